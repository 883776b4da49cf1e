import { describe, expect, it } from "vitest";
import {
  A,
  A_NEW_NAME,
  B,
  base,
  C,
  type Change,
  emitted,
  KEEP_A,
  Late,
  reason,
  third,
  told,
  type,
} from "../../../test/conditions/told-changes.js";
import { compareCatalogs } from "../index.js";

const changes: readonly Change[] = [
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
      "Additive exposure now: keep A without general reasons, and state what else was found as its cause or on a condition of its own.",
      "Change in a new contract: add the new general reason with since: 3, raise contract to 3, and state generalReasons: [the new one] of A, so that readers of older contracts keep what they see; one condition is stored for all of them, so no contract takes a general reason away.",
    ],
  ],
  [
    "a general reason less",
    { ...base, emits: [{ ...emitted, generalReasons: ["B"] }] },
    base,
    [
      'breaking emission-match start/crash/Ready: start/crash/Ready: A on Ready no longer matches B; automation, CLI JSON consumers and SDK clients that match conditions[].reason == "B" for this finding will miss it (contract 1, 2)',
      'Additive exposure now: keep generalReasons: ["B"] of A, and state what else was found as its cause or on a condition of its own.',
      'Change in a new contract: add the new general reason with since: 3, raise contract to 3, and state generalReasons: [the new one, "B"] of A, so that readers of older contracts keep what they see; one condition is stored for all of them, so no contract takes a general reason away.',
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
      'Additive exposure now: keep the reason Late with generalReasons: ["A"] and state the finer finding as its cause or on a condition of its own.',
      'Change in a new contract: add the new terminal reason with since: 3, raise contract to 3, and state generalReasons: ["Late","A"], so that readers of older contracts keep what they see; for those of contract 1, which does not know Late, it stays breaking: they see the new reason in its place.',
      'breaking emission-reason start/crash/Ready: start/crash/Ready: Ready shows C where it showed Late; automation, CLI JSON consumers and SDK clients that match conditions[].reason == "Late" for this finding will miss it (contract 2)',
      'Additive exposure now: keep the reason Late with generalReasons: ["A"] and state the finer finding as its cause or on a condition of its own.',
      'Change in a new contract: add the new terminal reason with since: 3, raise contract to 3, and state generalReasons: ["Late","A"], so that readers of older contracts keep what they see; for those of contract 1, which does not know Late, it stays breaking: they see the new reason in its place.',
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
      'Change in a new contract: add the new terminal reason with since: 3, raise contract to 3, and state generalReasons: ["Late"], so that readers of older contracts keep what they see; for those of contract 1, which does not know Late, it stays breaking: they see the new reason in its place.',
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
