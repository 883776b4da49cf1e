import { expect } from "vitest";
import { compareCatalogs, defineReasonCatalog, type ReasonCatalog } from "../../src/conditions/index.js";

export const type = { polarity: "positive", presence: "always", summary: "s" };
export const reason = { types: ["Ready", "Up"], class: "terminal", summary: "s" };
export const emitted = { operation: "start", cause: "crash", type: "Ready", reason: "A" };
export const base = {
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
export const { A, B, Late } = base.reasons;

export const third = { ...base, contract: 3 };
export const C = { ...reason, since: 3 };

// The two ways out of one breaking difference or another.
export const KEEP_A = [
  "Additive exposure now: keep the reason A and state the finer finding as its cause or on a condition of its own.",
  'Change in a new contract: add the new terminal reason with since: 3, raise contract to 3, and state generalReasons: ["A"], so that readers of older contracts keep what they see.',
];
export const KEEP_THE_WORD = [
  "Additive exposure now: keep dead under A, with the finer reason as its cause.",
  'Change in a new contract: retire A in contract 3 for a reason with since: 3 that takes dead over and is published with generalReasons: ["A"].',
];
export const A_NEW_NAME = [
  "Additive exposure now: use a new reason for the new condition, without general reasons that clients know already.",
  "Change in a new contract: raise contract to 3, which announces it; readers of older contracts find it too.",
];
export const ANOTHER_TYPE = [
  "Additive exposure now: add a new condition type beside Up.",
  "Change in a new contract: raise contract to 3, which announces it; readers of older contracts are given the changed type too.",
];
export const KEEP_B = [
  "Additive exposure now: keep B with deprecatedIn and replacedBy.",
  "Change in a new contract: move B to retired with its class and retiredIn: 3, the next contract; state it in generalReasons where the reason that replaces it is emitted, and move its backend words there.",
];
export const STAYS_RESERVED =
  "Change in a new contract: a retired name stays reserved in every contract: give the new meaning a new name with since: 3.";
export const ANOTHER_REASON =
  "Change in a new contract: readers that still know the name are given its class: another class is another reason, with since: 3.";

/** A change of a catalog by its name, the catalog before and after, and everything that is said of it. */
export type Change = readonly [change: string, before: object, after: object, lines: readonly string[]];

/** Everything that is said of a change, line by line: the differences, and below a breaking one both ways out. */
export function told(before: object, after: object): readonly string[] {
  for (const catalog of [before, after]) expect(() => defineReasonCatalog(catalog as never)).not.toThrow();
  return compareCatalogs(before as ReasonCatalog, after as ReasonCatalog).flatMap(
    ({ level, kind, subject, explanation, remedies = [] }) => [
      `${level} ${kind} ${subject}: ${explanation}`,
      ...remedies,
    ],
  );
}
