import { expect } from "vitest";
import { compareCatalogs, defineReasonCatalog } from "../../src/conditions/index.js";

export const entry = { types: ["Ready"], class: "terminal", summary: "s" };
export const type = { polarity: "positive", presence: "always", summary: "s" };
export const base = {
  name: "c",
  contract: 1,
  types: { Ready: type },
  reasons: { A: entry, B: { ...entry, refines: ["A"], sources: [{ backend: "docker", raw: ["dead"] }] } },
  emits: [{ operation: "o", cause: "c", type: "Ready", reason: "A" }],
};
export const { A, B } = base.reasons;
export const next = { ...base, contract: 2, retired: { Old: { retiredIn: 2 } } };

/** Compares both catalogs: the difference that is expected is found, and a breaking one only where one is expected. */
export function expectDifference(before: object, after: object, expected: string): void {
  const found = compareCatalogs(defineReasonCatalog(before as never), defineReasonCatalog(after as never));
  const judged = found.map(({ level, kind }) => `${level} ${kind}`);
  expect(judged).toContain(expected);
  const worst = expected.split(" ")[0];
  if (worst !== "breaking") expect(judged.filter((each) => each.startsWith("breaking"))).toEqual([]);
}
