import { describe, expect, it } from "vitest";
import { VirtualClock } from "../testing/index.js";
import { PhasedDeadline } from "./phased-deadline.js";
import { startAttempt } from "./start.js";
import type { DeadlineState } from "./state.js";

const { state } = startAttempt({ phases: [{ name: "work", budgetMs: 100 }] }, { attempt: "a1", now: 0 });
const restore = (stored: unknown): PhasedDeadline =>
  PhasedDeadline.restore(stored as DeadlineState, { clock: new VirtualClock() });
const refusal = (field: string): Error => expect.objectContaining({ code: "INVALID_STATE", field }) as Error;

describe("a record that nobody decoded", () => {
  it.each([
    "startedAt",
    "observedAt",
    "phaseEnteredAt",
    "parentDeadlineAt",
    "windowEndsAt",
    "pausedAt",
    "stallEndsAt",
    "plan",
    "marks",
    "spentRejections",
    "cleanup",
  ])("is not taken up again without its %s, nor with one that is text", (field) => {
    expect(() => restore({ ...state, [field]: undefined })).toThrow(refusal(field));
    expect(() => restore({ ...state, [field]: "100" })).toThrow(refusal(field));
  });

  it.each(["startedAt", "observedAt", "phaseEnteredAt"])("has an instant for its %s", (field) => {
    expect(() => restore({ ...state, [field]: null })).toThrow(refusal(field));
  });

  it("is told by its version first", () => {
    expect(() => restore({})).toThrow(refusal("schemaVersion"));
    expect(() => restore({ schemaVersion: 1 })).toThrow(refusal("startedAt"));
  });

  it("is told what is expected", () => {
    expect(() => restore({ ...state, windowEndsAt: Number.NaN })).toThrow(
      "windowEndsAt must be as decodeDeadlineState leaves it, got NaN",
    );
  });
});

it("a whole state is taken up again", () => {
  expect(restore(state).attempt).toBe("a1");
});
