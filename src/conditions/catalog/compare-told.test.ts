import { describe, expect, it } from "vitest";
import { compareCatalogs, defineReasonCatalog, type ReasonCatalog } from "../index.js";

const type = { polarity: "positive", presence: "always", summary: "s" };
const reason = { types: ["Ready", "Up"], class: "terminal", summary: "s" };
const emitted = { operation: "start", cause: "crash", type: "Ready", reason: "A" };
const base = {
  name: "c",
  contract: 2,
  types: { Ready: type, Up: type },
  reasons: {
    A: { ...reason, sources: [{ backend: "docker", raw: ["dead"] }] },
    B: reason,
    Late: { ...reason, since: 2 },
  },
  retired: { Old: { retiredIn: 2 } },
  emits: [emitted],
};
const { A, B, Late } = base.reasons;

const third = { ...base, contract: 3 };
const C = { ...reason, since: 3 };

// The two ways out of one breaking difference or another.
const KEEP_A = [
  "Additive exposure now: keep the reason A and state the finer finding as its cause or on a condition of its own.",
  'Change in a new contract: add the new terminal reason with since: 3, raise contract to 3, and state generalReasons: ["A"], so that readers of older contracts keep what they see.',
];
const KEEP_THE_WORD = [
  "Additive exposure now: keep dead under A, with the finer reason as its cause.",
  'Change in a new contract: retire A in contract 3 for a reason with since: 3 that takes dead over and is published with generalReasons: ["A"].',
];
const A_NEW_NAME = [
  "Additive exposure now: use a new name for the new condition.",
  "Change in a new contract: raise contract to 3, which announces it; readers of older contracts find it too.",
];
const ANOTHER_TYPE = [
  "Additive exposure now: add a new condition type beside Up.",
  "Change in a new contract: raise contract to 3, which announces it; readers of older contracts are given the changed type too.",
];
const KEEP_B = [
  "Additive exposure now: keep B with deprecatedIn and replacedBy.",
  "Change in a new contract: move B to retired with its class and retiredIn: 3, the next contract; state it in generalReasons where the reason that replaces it is emitted, and move its backend words there.",
];
const STAYS_RESERVED =
  "Change in a new contract: a retired name stays reserved in every contract: give the new meaning a new name with since: 3.";
const ANOTHER_REASON =
  "Change in a new contract: readers that still know the name are given its class: another class is another reason, with since: 3.";

/** Everything that is said of a change, line by line: the differences, and below a breaking one both ways out. */
function told(before: object, after: object): readonly string[] {
  for (const catalog of [before, after]) expect(() => defineReasonCatalog(catalog as never)).not.toThrow();
  return compareCatalogs(before as ReasonCatalog, after as ReasonCatalog).flatMap(
    ({ level, kind, subject, explanation, remedies = [] }) => [
      `${level} ${kind} ${subject}: ${explanation}`,
      ...remedies,
    ],
  );
}

describe("the words of a name that went or came", () => {
  it("are told by the difference of the name alone", () => {
    const reserved = { ...base, retired: { ...base.retired, Older: { retiredIn: 2 } } };
    expect(told(base, reserved)).toEqual(["safe reservation-added Older: Older is reserved."]);
    expect(told(reserved, base).filter((line) => line.includes(" source-"))).toEqual([]);
    const back = { ...base, reasons: { ...base.reasons, Old: reason }, retired: {} };
    expect(told(base, back).filter((line) => line.includes(" source-"))).toEqual([]);
  });

  it("say where a word went that is a name of its own now", () => {
    const own = { ...base, reasons: { A: reason, B, Late, dead: reason } };
    expect(told(base, own)).toContain(
      "breaking source-changed A: dead was reported as A and is now reported as dead: clients that match A miss it.",
    );
  });
});

const changes: readonly [change: string, before: object, after: object, lines: readonly string[]][] = [
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
    "an emission gone",
    base,
    { ...base, emits: [] },
    [
      'breaking emission-removed start/crash/Ready: start/crash/Ready: A is no longer published on Ready; automation, CLI JSON consumers and SDK clients that match conditions[].reason == "A" for this finding will miss it (contract 1, 2)',
      ...KEEP_A,
    ],
  ],
  [
    "an emission with another reason",
    base,
    { ...base, emits: [{ ...emitted, reason: "B" }] },
    [
      'breaking emission-reason start/crash/Ready: start/crash/Ready: Ready shows B where it showed A; automation, CLI JSON consumers and SDK clients that match conditions[].reason == "A" for this finding will miss it (contract 1, 2)',
      ...KEEP_A,
    ],
  ],
  [
    "an emission refined by a reason of the present contract",
    base,
    { ...base, emits: [emitted, { ...emitted, reason: "Late", generalReasons: ["A"], since: 2 }] },
    [
      "breaking emission-match start/crash/Ready: start/crash/Ready: A on Ready now matches Late too, so clients that match it see cases they did not (contract 1)",
      ...KEEP_A,
      'breaking emission-reason start/crash/Ready: start/crash/Ready: Ready shows Late where it showed A; automation, CLI JSON consumers and SDK clients that match conditions[].reason == "A" for this finding will miss it (contract 2)',
      ...KEEP_A,
    ],
  ],
  [
    "an emission refined by a reason of the next contract",
    base,
    {
      ...third,
      reasons: { ...base.reasons, C },
      emits: [emitted, { ...emitted, reason: "C", generalReasons: ["A"], since: 3 }],
    },
    [
      "additive contract-raised c: Contract 3 is new; clients have to ask for it.",
      "additive reason-added C: C is new, for readers of contract 3 and later.",
      "additive emission-added start/crash/Ready: start/crash/Ready publishes C from contract 3 on.",
    ],
  ],
  [
    "an emission replaced by one that is a case of it",
    base,
    {
      ...third,
      reasons: { ...base.reasons, C },
      emits: [{ ...emitted, reason: "C", generalReasons: ["A"] }],
    },
    [
      "additive contract-raised c: Contract 3 is new; clients have to ask for it.",
      "additive reason-added C: C is new, for readers of contract 3 and later.",
      "additive emission-refined start/crash/Ready: start/crash/Ready publishes C; readers of older contracts see what they saw.",
    ],
  ],
  [
    "an emission of a known reason on a second type",
    base,
    { ...base, emits: [emitted, { ...emitted, type: "Up" }] },
    [
      "breaking emission-added start/crash/Up: start/crash/Up: A is now published on Up, where readers of that type find what they did not (contract 1, 2)",
      ...A_NEW_NAME,
    ],
  ],
  [
    "an emission of a new reason on a second type",
    base,
    {
      ...base,
      reasons: { ...base.reasons, C: reason },
      emits: [emitted, { ...emitted, type: "Up", reason: "C" }],
    },
    [
      "additive reason-added C: C is new, for readers of every contract.",
      "additive emission-added start/crash/Up: start/crash/Up publishes C from contract 1 on.",
    ],
  ],
  [
    "an emission of a known reason on a new type",
    base,
    {
      ...base,
      types: { ...base.types, New: type },
      reasons: { ...base.reasons, B: { ...B, types: [...B.types, "New"] } },
      emits: [emitted, { ...emitted, type: "New", reason: "B" }],
    },
    [
      "additive type-added New: The condition type New is new.",
      "additive reason-type-added B: B has the new type New.",
      "breaking emission-added start/crash/New: start/crash/New: B is now published on New, where clients that look at any type find what they did not (contract 1, 2)",
      ...A_NEW_NAME,
    ],
  ],
  [
    "an emission of the same reason on a new type",
    base,
    {
      ...base,
      types: { ...base.types, New: type },
      reasons: { ...base.reasons, A: { ...A, types: [...A.types, "New"] } },
      emits: [emitted, { ...emitted, type: "New", reason: "A" }],
    },
    [
      "additive type-added New: The condition type New is new.",
      "additive reason-type-added A: A has the new type New.",
      "additive emission-added start/crash/New: start/crash/New publishes A from contract 1 on.",
    ],
  ],
  [
    "a new situation",
    base,
    { ...base, emits: [emitted, { ...emitted, cause: "oom" }] },
    ["additive emission-added start/oom/Ready: start/oom/Ready publishes A from contract 1 on."],
  ],
  [
    "a general reason more",
    base,
    { ...base, emits: [{ ...emitted, generalReasons: ["B"] }] },
    [
      "breaking emission-match start/crash/Ready: start/crash/Ready: A on Ready now matches B too, so clients that match it see cases they did not (contract 1, 2)",
      ...KEEP_A,
    ],
  ],
  [
    "a general reason less",
    { ...base, emits: [{ ...emitted, generalReasons: ["B"] }] },
    base,
    [
      'breaking emission-match start/crash/Ready: start/crash/Ready: A on Ready no longer matches B; automation, CLI JSON consumers and SDK clients that match conditions[].reason == "B" for this finding will miss it (contract 1, 2)',
      "Additive exposure now: keep the reason A and state the finer finding as its cause or on a condition of its own.",
      'Change in a new contract: add the new terminal reason with since: 3, raise contract to 3, and state generalReasons: ["A","B"], so that readers of older contracts keep what they see.',
    ],
  ],
  [
    "another cause",
    { ...base, emits: [{ ...emitted, reason: "Late", generalReasons: ["A"] }] },
    {
      ...base,
      reasons: { ...base.reasons, C: { ...reason, since: 2 } },
      emits: [{ ...emitted, reason: "C", generalReasons: ["A"] }],
    },
    [
      "additive reason-added C: C is new, for readers of contract 2 and later.",
      "breaking emission-cause start/crash/Ready: start/crash/Ready: Ready shows A with the cause C where it showed the cause Late; clients that read cause.reason see another answer (contract 1)",
      "Additive exposure now: keep the reason Late and state the finer finding as its cause or on a condition of its own.",
      'Change in a new contract: add the new terminal reason with since: 3, raise contract to 3, and state generalReasons: ["Late","A"], so that readers of older contracts keep what they see; those of contract 1, which does not know Late, see the new reason in its place.',
      'breaking emission-reason start/crash/Ready: start/crash/Ready: Ready shows C where it showed Late; automation, CLI JSON consumers and SDK clients that match conditions[].reason == "Late" for this finding will miss it (contract 2)',
      "Additive exposure now: keep the reason Late and state the finer finding as its cause or on a condition of its own.",
      'Change in a new contract: add the new terminal reason with since: 3, raise contract to 3, and state generalReasons: ["Late","A"], so that readers of older contracts keep what they see; those of contract 1, which does not know Late, see the new reason in its place.',
    ],
  ],
  [
    "another reason for one that waits",
    { ...base, reasons: { ...base.reasons, A: { ...A, class: "waiting" } } },
    {
      ...base,
      reasons: { ...base.reasons, A: { ...A, class: "waiting" } },
      emits: [{ ...emitted, reason: "B" }],
    },
    [
      'breaking emission-reason start/crash/Ready: start/crash/Ready: Ready shows B where it showed A; automation, CLI JSON consumers and SDK clients that match conditions[].reason == "A" for this finding will miss it (contract 1, 2)',
      "Additive exposure now: keep the reason A and state the finer finding as its cause or on a condition of its own.",
      'Change in a new contract: add the new reason with since: 3, raise contract to 3, and state generalReasons: ["A"], so that readers of older contracts keep what they see.',
    ],
  ],
  [
    "another reason for one that not every reader knows",
    { ...base, emits: [{ ...emitted, reason: "Late" }] },
    base,
    [
      'breaking emission-reason start/crash/Ready: start/crash/Ready: Ready shows A where it showed Late; automation, CLI JSON consumers and SDK clients that match conditions[].reason == "Late" for this finding will miss it (contract 1, 2)',
      "Additive exposure now: keep the reason Late and state the finer finding as its cause or on a condition of its own.",
      'Change in a new contract: add the new terminal reason with since: 3, raise contract to 3, and state generalReasons: ["Late"], so that readers of older contracts keep what they see; those of contract 1, which does not know Late, see the new reason in its place.',
    ],
  ],
  [
    "an emission of a later contract to the same effect",
    base,
    { ...base, emits: [{ ...emitted, since: 2 }] },
    [
      "additive emission-added start/crash/Ready: start/crash/Ready publishes A from contract 2 on.",
      "safe emission-replaced start/crash/Ready: start/crash/Ready is stated by another entry with the same effect.",
    ],
  ],
  [
    "a new word",
    base,
    { ...base, reasons: { ...base.reasons, B: { ...B, sources: [{ backend: "docker", raw: ["exited"] }] } } },
    ["additive source-added B: exited is now reported as B."],
  ],
  [
    "a word gone",
    base,
    { ...base, reasons: { ...base.reasons, A: reason } },
    [
      "breaking source-changed A: dead was reported as A and is not mapped any more: clients that match A miss it.",
      ...KEEP_THE_WORD,
    ],
  ],
  [
    "a word of another reason now",
    base,
    { ...base, reasons: { ...base.reasons, A: reason, B: { ...B, sources: A.sources } } },
    [
      "breaking source-changed A: dead was reported as A and is now reported as B: clients that match A miss it.",
      ...KEEP_THE_WORD,
      "safe source-text B: The sources of B are described anew.",
    ],
  ],
  [
    "a word that the successor of a retired reason takes over",
    base,
    {
      ...third,
      reasons: { B, Late, C: { ...C, sources: A.sources } },
      retired: { ...base.retired, A: { retiredIn: 3, replacedBy: "C" } },
      emits: [{ ...emitted, reason: "C", generalReasons: ["A"] }],
    },
    [
      "additive contract-raised c: Contract 3 is new; clients have to ask for it.",
      "safe reason-retired A: A is retired in contract 3; readers of older contracts still know it.",
      "additive reason-added C: C is new, for readers of contract 3 and later.",
      "additive source-replaced A: dead is now reported as C, which replaces the retired A and is published as a case of it.",
      "additive emission-refined start/crash/Ready: start/crash/Ready publishes C; readers of older contracts see what they saw.",
    ],
  ],
  [
    "the versions that print a word",
    base,
    {
      ...base,
      reasons: {
        ...base.reasons,
        A: { ...A, sources: [{ backend: "docker", raw: ["dead"], versions: "1" }] },
      },
    },
    ["safe source-text A: The sources of A are described anew."],
  ],
  [
    "the versions that print a word, and another word",
    base,
    {
      ...base,
      reasons: {
        ...base.reasons,
        A: {
          ...A,
          sources: [
            { backend: "docker", raw: ["dead"], versions: "1" },
            { backend: "docker", raw: ["gone"] },
          ],
        },
      },
    },
    [
      "additive source-added A: gone is now reported as A.",
      "safe source-text A: The sources of A are described anew.",
    ],
  ],
  [
    "a word of another backend",
    base,
    {
      ...base,
      reasons: {
        ...base.reasons,
        A: { ...A, sources: [...A.sources, { backend: "podman", raw: ["gone"] }] },
      },
    },
    ["additive source-added A: gone is now reported as A."],
  ],
  [
    "a second word",
    base,
    {
      ...base,
      reasons: { ...base.reasons, A: { ...A, sources: [{ backend: "docker", raw: ["dead", "gone"] }] } },
    },
    ["additive source-added A: gone is now reported as A."],
  ],
  [
    "a word that a successor takes over which is published as a case of something else",
    base,
    {
      ...third,
      reasons: { B, Late, C: { ...C, sources: A.sources } },
      retired: { ...base.retired, A: { retiredIn: 3, replacedBy: "C" } },
      emits: [{ ...emitted, reason: "C", generalReasons: ["B"] }],
    },
    [
      "additive contract-raised c: Contract 3 is new; clients have to ask for it.",
      "safe reason-retired A: A is retired in contract 3; readers of older contracts still know it.",
      "additive reason-added C: C is new, for readers of contract 3 and later.",
      "breaking source-changed A: dead was reported as A and is now reported as C: clients that match A miss it.",
      ...KEEP_THE_WORD,
      'breaking emission-reason start/crash/Ready: start/crash/Ready: Ready shows B where it showed A; automation, CLI JSON consumers and SDK clients that match conditions[].reason == "A" for this finding will miss it (contract 1, 2)',
      ...KEEP_A,
    ],
  ],
  [
    "a word that somebody else than the successor takes over",
    base,
    {
      ...third,
      reasons: { B: { ...B, sources: A.sources }, Late, C },
      retired: { ...base.retired, A: { retiredIn: 3, replacedBy: "C" } },
      emits: [{ ...emitted, reason: "C", generalReasons: ["A"] }],
    },
    [
      "additive contract-raised c: Contract 3 is new; clients have to ask for it.",
      "safe reason-retired A: A is retired in contract 3; readers of older contracts still know it.",
      "additive reason-added C: C is new, for readers of contract 3 and later.",
      "breaking source-changed A: dead was reported as A and is now reported as B: clients that match A miss it.",
      ...KEEP_THE_WORD,
      "safe source-text B: The sources of B are described anew.",
      "additive emission-refined start/crash/Ready: start/crash/Ready publishes C; readers of older contracts see what they saw.",
    ],
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
  [
    "emissions in another order",
    { ...base, emits: [emitted, { ...emitted, cause: "oom" }] },
    { ...base, emits: [{ ...emitted, cause: "oom" }, emitted] },
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

describe("what is said of words", () => {
  const said = (before: object, after: object): readonly string[] =>
    told(before, after).filter((line) => / (source|retired|reservation)-/.test(line));
  const dead = (backend: string) => ({ ...reason, sources: [{ backend, raw: ["dead"] }] });

  it("names the backend where only its own word means something else", () => {
    const reasons = { A: dead("abacus"), B: dead("docker"), Late };
    const moved = { A: dead("abacus"), B: reason, Late: { ...Late, ...dead("docker"), since: 2 } };
    expect(said({ ...base, reasons }, { ...base, reasons: moved })).toEqual([
      "breaking source-changed B: docker dead was reported as B and is now reported as Late: clients that match B miss it.",
      "safe source-text Late: The sources of Late are described anew.",
    ]);
  });

  it("is said also of spellings that nobody states, which the first backend in the alphabet decides", () => {
    const as = (backend: string) => ({
      ...base,
      reasons: { A: dead("docker"), B: { ...reason, sources: [{ backend, raw: ["Dead"] }] }, Late },
    });
    expect(said(as("podman"), as("abacus"))).toContain(
      "breaking source-changed A: DEad was reported as A and is now reported as B: clients that match A miss it.",
    );
  });

  it("follows what replaces a retired name, where that is gained or lost", () => {
    const replaced = (by: string) => ({ ...base, retired: { Old: { retiredIn: 2, replacedBy: by } } });
    expect(said({ ...base, retired: {} }, replaced("A"))).toEqual([
      "safe reservation-added Old: Old is reserved.",
      "additive source-added A: Old is now reported as A.",
    ]);
    expect(said(replaced("A"), { ...base, retired: {} })).toEqual([
      "breaking reservation-removed Old: Old is no longer reserved: clients that still match it may meet it with another meaning.",
      "breaking source-changed A: Old was reported as A and is not mapped any more: clients that match A miss it.",
    ]);
    expect(said(replaced("A"), replaced("B"))).toEqual([
      "safe retired-text Old: What replaces the retired Old was reworded.",
    ]);
  });

  describe("of a retired reason", () => {
    const published = (name: string, cause: string, ...generalReasons: readonly string[]) => ({
      ...emitted,
      cause,
      reason: name,
      generalReasons,
    });
    const successor = (by: string, retiredIn: number, ...emits: readonly object[]) => ({
      ...third,
      reasons: { B, Late, C: { ...C, ...dead("docker"), since: 3 }, D: C },
      retired: { ...base.retired, A: { retiredIn, replacedBy: by } },
      emits,
    });
    const words = (after: object): readonly string[] =>
      said(base, after).filter((line) => line.includes(" source-"));
    const taken = [
      "additive source-replaced A: dead is now reported as C, which replaces the retired A and is published as a case of it.",
    ];
    const lost = [
      "breaking source-changed A: dead was reported as A and is now reported as C: clients that match A miss it.",
    ];

    it.each<[string, object, readonly string[]]>([
      [
        "one publication of several is a case of it",
        successor("C", 3, published("C", "crash", "A"), published("C", "other")),
        taken,
      ],
      ["none is", successor("C", 3, published("C", "crash"), published("D", "other", "A")), lost],
      ["somebody else replaces it", successor("D", 3, published("C", "crash", "A")), lost],
      ["it was retired at once", successor("C", 2, published("C", "crash", "A")), lost],
    ])("are taken over by its successor, or lost: %s", (_, after, lines) => {
      expect(words(after)).toEqual(lines);
    });
  });
});

describe("what is said of publications", () => {
  const said = (before: object, after: object): readonly string[] =>
    told(before, after).filter((line) => /^(additive|safe|breaking) (emission|catalog)-/.test(line));

  it("is said for each contract at which it looks different, however many there are", () => {
    const many = (emits: readonly object[], contract: number) => ({
      ...base,
      contract,
      reasons: { A: reason, B, Late: { ...Late, since: 40 }, Later: { ...Late, since: 90 } },
      retired: { Old: { retiredIn: 60 } },
      emits,
    });
    const finer = { ...emitted, reason: "Later", generalReasons: ["Late", "A"] };
    const contractsOf = (contract: number): readonly unknown[] =>
      compareCatalogs(
        many([finer], contract) as never,
        many([{ ...emitted, reason: "B" }], contract) as never,
      ).map(({ explanation, contracts }) => [/showed (\w+)/.exec(explanation)?.[1], contracts]);
    const from = (first: number, last: number): readonly number[] =>
      Array.from({ length: last - first + 1 }, (_, index) => first + index);
    expect(contractsOf(100)).toEqual([
      ["A", from(1, 39)],
      ["Late", from(40, 89)],
      ["Later", from(90, 100)],
    ]);
    // Beyond a hundred, those alone at which a name came or went.
    expect(contractsOf(101)).toEqual([
      ["A", [1]],
      ["Late", [40, 60]],
      ["Later", [90]],
    ]);
  });

  it("on a new type breaks whoever looks for a name on any type, and nobody who finds it already", () => {
    const wide = { ...reason, types: [...reason.types, "New"] };
    const on = (name: string, ...generalReasons: readonly string[]) => ({
      ...base,
      types: { ...base.types, New: type },
      reasons: { A: { ...wide, sources: A.sources }, B: wide, Late: { ...wide, since: 2 }, Own: wide },
      emits: [emitted, { ...emitted, type: "New", reason: name, generalReasons }],
    });
    const before = { ...base, reasons: { ...base.reasons, A: { ...A }, B, Late } };
    expect(said(before, on("Own"))).toEqual([
      "additive emission-added start/crash/New: start/crash/New publishes Own from contract 1 on.",
    ]);
    expect(said(before, on("A"))).toEqual([
      "additive emission-added start/crash/New: start/crash/New publishes A from contract 1 on.",
    ]);
    expect(said(before, on("Own", "A"))).toEqual([
      "additive emission-added start/crash/New: start/crash/New publishes Own from contract 1 on.",
    ]);
    for (const [name, ...general] of [["B"], ["A", "B"], ["Own", "B"]] as const)
      expect(said(before, on(name, ...general))).toEqual([
        `breaking emission-added start/crash/New: start/crash/New: ${name} is now published on New, where clients that look at any type find what they did not (contract 1, 2)`,
      ]);
  });

  it("on a new type breaks whoever compares the reason itself, which was only a case of it before", () => {
    const wide = { ...reason, types: [...reason.types, "New"] };
    const finer = { ...emitted, reason: "Late", generalReasons: ["A"] };
    const before = {
      ...base,
      types: { ...base.types, New: type },
      reasons: { A: wide, B, Late },
      emits: [finer],
    };
    const old = { ...before, types: base.types, reasons: { A: reason, B, Late } };
    const after = { ...before, emits: [finer, { ...emitted, type: "New" }] };
    // Readers of contract 1 see A already.
    expect(said(old, after)).toEqual([
      "breaking emission-added start/crash/New: start/crash/New: A is now published on New, where clients that look at any type find what they did not (contract 2)",
    ]);
  });
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
