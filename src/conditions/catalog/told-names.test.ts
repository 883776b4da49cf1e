import { describe, expect, it } from "vitest";
import {
  A,
  ANOTHER_REASON,
  ANOTHER_TYPE,
  B,
  base,
  type Change,
  emitted,
  KEEP_B,
  Late,
  reason,
  STAYS_RESERVED,
  third,
  told,
  type,
} from "../../../test/conditions/told-changes.js";

const changes: readonly Change[] = [
  [
    "another name",
    base,
    { ...base, name: "d" },
    [
      "breaking catalog-name c: The catalog c is now called d: clients that ask for it by name do not find it.",
      "Additive exposure now: keep the name c and publish d as a catalog of its own beside it.",
      "Change in a new contract: a contract belongs to its catalog: start d with a lock file of its own, and keep c for its clients.",
    ],
  ],
  [
    "a lower contract",
    third,
    base,
    [
      "breaking contract-lowered c: Contract 3 is gone: clients that ask for it get contract 2.",
      "Additive exposure now: keep contract 3.",
      "Change in a new contract: contracts only grow: state what is to change with since: 4.",
    ],
  ],
  [
    "a higher contract",
    base,
    third,
    ["additive contract-raised c: Contract 3 is new; clients have to ask for it."],
  ],
  [
    "a new type",
    base,
    { ...base, types: { ...base.types, New: type } },
    ["additive type-added New: The condition type New is new."],
  ],
  [
    "a type turned round",
    base,
    { ...base, types: { ...base.types, Up: { ...type, polarity: "negative" } } },
    [
      "breaking type-polarity Up: Up=True was positive and is now negative: clients read the opposite or nothing.",
      ...ANOTHER_TYPE,
    ],
  ],
  [
    "a type present otherwise",
    base,
    { ...base, types: { ...base.types, Up: { ...type, presence: "once-reached" } } },
    [
      "breaking type-presence Up: Up was present always and is now once-reached: clients that read its absence take it for something else.",
      ...ANOTHER_TYPE,
    ],
  ],
  [
    "a type in other words",
    base,
    { ...base, types: { ...base.types, Up: { ...type, summary: "t" } } },
    ["safe type-text Up: The summary of Up was reworded."],
  ],
  [
    "a reason gone",
    base,
    { ...base, reasons: { A, Late } },
    [
      "breaking reason-removed B: B is gone: clients that match it never see it again, and its name is free for another meaning.",
      ...KEEP_B,
    ],
  ],
  [
    "a reason retired in the next contract",
    base,
    { ...third, reasons: { A, Late }, retired: { ...base.retired, B: { retiredIn: 3 } } },
    [
      "additive contract-raised c: Contract 3 is new; clients have to ask for it.",
      "safe reason-retired B: B is retired in contract 3; readers of older contracts still know it.",
    ],
  ],
  [
    "a reason retired as one of another class",
    base,
    { ...third, reasons: { A, Late }, retired: { ...base.retired, B: { retiredIn: 3, class: "waiting" } } },
    [
      "additive contract-raised c: Contract 3 is new; clients have to ask for it.",
      "breaking retired-class B: B was terminal and counts as waiting now that it is retired: readers that still know it see another reason.",
      'Additive exposure now: keep class: "terminal" with the retired name.',
      ANOTHER_REASON,
    ],
  ],
  [
    "a reason retired at once",
    base,
    { ...base, reasons: { A, Late }, retired: { ...base.retired, B: { retiredIn: 2 } } },
    [
      "breaking reason-removed B: B is gone: clients that match it never see it again, and its name is free for another meaning.",
      ...KEEP_B,
    ],
  ],
  [
    "a retired name in use again",
    base,
    { ...base, reasons: { ...base.reasons, Old: reason }, retired: {} },
    [
      "breaking retired-name-reused Old: Old was retired and comes back: clients that still match it take the new meaning for the old one.",
      "Additive exposure now: choose another name than Old.",
      STAYS_RESERVED,
    ],
  ],
  [
    "a retired name in use again, in another letter case",
    base,
    { ...base, reasons: { ...base.reasons, OLD: reason }, retired: {} },
    [
      "breaking retired-name-reused OLD: OLD was retired and comes back: clients that still match it take the new meaning for the old one.",
      "Additive exposure now: choose another name than Old.",
      STAYS_RESERVED,
      "breaking reservation-removed Old: Old is no longer reserved: clients that still match it may meet it with another meaning.",
      "Additive exposure now: keep Old in retired.",
      STAYS_RESERVED,
    ],
  ],
  [
    "a new reason",
    base,
    { ...base, reasons: { ...base.reasons, C: reason } },
    ["additive reason-added C: C is new, for readers of every contract."],
  ],
  [
    "a new reason of the present contract",
    base,
    { ...base, reasons: { ...base.reasons, C: { ...reason, since: 2 } } },
    ["additive reason-added C: C is new, for readers of contract 2 and later."],
  ],
  [
    "a reservation dropped",
    base,
    { ...base, retired: {} },
    [
      "breaking reservation-removed Old: Old is no longer reserved: clients that still match it may meet it with another meaning.",
      "Additive exposure now: keep Old in retired.",
      STAYS_RESERVED,
    ],
  ],
  [
    "a reservation made",
    base,
    { ...base, retired: { ...base.retired, Older: { retiredIn: 2 } } },
    ["safe reservation-added Older: Older is reserved."],
  ],
  [
    "a retirement moved",
    third,
    { ...third, retired: { Old: { retiredIn: 3 } } },
    [
      "breaking retired-contract Old: Old is retired in contract 3 instead of 2: readers between see another reason.",
      "Additive exposure now: keep retiredIn: 2.",
      "Change in a new contract: what is retired already is retired for good: only a reason in use can be retired in contract 4.",
    ],
  ],
  [
    "a retired reason of another class",
    base,
    { ...base, retired: { Old: { retiredIn: 2, class: "waiting" } } },
    [
      "breaking retired-class Old: The retired Old was terminal and is now waiting: readers that still know it see another reason.",
      'Additive exposure now: keep class: "terminal" with the retired name.',
      ANOTHER_REASON,
    ],
  ],
  [
    "a retired reason of the usual class again",
    { ...base, retired: { Old: { retiredIn: 2, class: "waiting" } } },
    base,
    [
      "breaking retired-class Old: The retired Old was waiting and is now terminal: readers that still know it see another reason.",
      'Additive exposure now: keep class: "waiting" with the retired name.',
      ANOTHER_REASON,
    ],
  ],
  [
    "a retired reason explained",
    base,
    { ...base, retired: { Old: { retiredIn: 2, replacedBy: "A" } } },
    ["safe retired-text Old: What replaces the retired Old was reworded."],
  ],

  [
    "defaults that are stated",
    base,
    {
      ...base,
      reasons: { ...base.reasons, B: { ...B, since: 1, refines: [], sources: [] } },
      emits: [{ ...emitted, since: 1, generalReasons: [] }],
    },
    [],
  ],
];

describe("what is said of a change", () => {
  it.each(changes.map(([change, before, after, lines]) => ({ change, before, after, lines })))(
    "$change",
    ({ before, after, lines }) => {
      expect(told(before, after)).toEqual(lines);
    },
  );
});

it("a type that is gone is named, with both ways out", () => {
  const only = (entry: object) => ({ ...entry, types: ["Ready"] });
  const fewer = { ...base, types: { Ready: type }, reasons: { A: only(A), B: only(B), Late: only(Late) } };
  expect(told(base, fewer).slice(0, 6)).toEqual([
    "breaking type-removed Up: The condition type Up is gone: clients that wait for it wait for ever.",
    "Additive exposure now: keep publishing Up, and what replaces it as a type beside it.",
    "Change in a new contract: raise contract to 3, which announces it; readers of older contracts lose the type too.",
    "breaking reason-type-removed A: A no longer has the type Up: clients that look there do not see it.",
    "Additive exposure now: keep Up.",
    "Change in a new contract: raise contract to 3, which announces it; readers of older contracts lose it too.",
  ]);
});
