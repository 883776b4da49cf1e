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
