import { describe, expect, it } from "vitest";
import { isSlipwayError } from "../errors.js";
import { checkEvent } from "./check-event.js";
import type { DeadlineEvent } from "./event.js";
import { LAST_INSTANT } from "./limits.js";

const attempt = "a1";
const NAME = "a string of 1 to 256 characters";
const COUNT = "a safe integer, 0 or more";

/** What is said of a mistake, `null` when there is none. A message and its error name the same field. */
function messageOf(event: unknown): string | null {
  try {
    checkEvent(event as DeadlineEvent);
    return null;
  } catch (error) {
    if (!isSlipwayError(error)) throw error;
    expect(error.code).toBe("INVALID_EVENT");
    expect(error.field).toBe(/: (\w+) must be/.exec(error.message)?.[1] ?? "");
    return error.message;
  }
}

const mistakes: readonly (readonly [unknown, string])[] = [
  [null, "event must be an object, got null"],
  [7, "event must be an object, got 7"],
  [{}, "event: type must be a known event type, got undefined"],
  [{ type: "tock" }, 'event: type must be a known event type, got "tock"'],
  [{ type: "progress", attempt: "", phase: "p" }, `event progress: attempt must be ${NAME}, got ""`],
  [{ type: "progress", attempt, phase: 7 }, `event progress: phase must be ${NAME}, got 7`],
  [{ type: "progress", attempt, phase: "p", step: "" }, `event progress: step must be ${NAME}, got ""`],
  [{ type: "progress", attempt, phase: "p", step: {} }, `event progress: step must be ${NAME}, got {}`],
  [{ type: "progress", attempt, phase: "p", part: 5 }, `event progress: part must be ${NAME}, got 5`],
  [{ type: "progress", attempt, phase: "p", run: -1 }, `event progress: run must be ${COUNT}, got -1`],
  [{ type: "progress", attempt, phase: "p", run: 1.5 }, `event progress: run must be ${COUNT}, got 1.5`],
  [{ type: "enter", phase: "p" }, `event enter: attempt must be ${NAME}, got undefined`],
  [{ type: "enter", attempt, phase: "" }, `event enter: phase must be ${NAME}, got ""`],
  [{ type: "change", attempt: 1, generation: 1 }, `event change: attempt must be ${NAME}, got 1`],
  [{ type: "change", attempt, generation: 1.5 }, `event change: generation must be ${COUNT}, got 1.5`],
  [{ type: "change", attempt, generation: "2" }, `event change: generation must be ${COUNT}, got "2"`],
  [{ type: "change", attempt, generation: 1, digest: "" }, `event change: digest must be ${NAME}, got ""`],
  [
    { type: "change", attempt, generation: 1, committedAt: "now" },
    'event change: committedAt must be a safe integer of epoch milliseconds, got "now"',
  ],
  [
    { type: "change", attempt, generation: 2, committedAt: Number.NaN },
    "event change: committedAt must be a safe integer of epoch milliseconds, got NaN",
  ],
  [{ type: "reject", generation: 1 }, `event reject: attempt must be ${NAME}, got undefined`],
  [{ type: "reject", attempt, generation: -1 }, `event reject: generation must be ${COUNT}, got -1`],
  [{ type: "reject", attempt, generation: 1, digest: 4 }, `event reject: digest must be ${NAME}, got 4`],
  [{ type: "reject", attempt, generation: 1, reason: 4 }, "event reject: reason must be a string, got 4"],
  [{ type: "reject", attempt, generation: 1, message: 4 }, "event reject: message must be a string, got 4"],
  [{ type: "pause", seq: 1 }, `event pause: attempt must be ${NAME}, got undefined`],
  [{ type: "pause", attempt, seq: "1" }, `event pause: seq must be ${COUNT}, got "1"`],
  [{ type: "pause", attempt, seq: -1 }, `event pause: seq must be ${COUNT}, got -1`],
  [{ type: "resume", attempt }, `event resume: seq must be ${COUNT}, got undefined`],
  [{ type: "complete" }, `event complete: attempt must be ${NAME}, got undefined`],
  [{ type: "cancel", reason: "x" }, `event cancel: attempt must be ${NAME}, got undefined`],
  [{ type: "cancel", attempt }, "event cancel: reason must be a string, got undefined"],
  [{ type: "claim-cleanup", owner: "o" }, `event claim-cleanup: attempt must be ${NAME}, got undefined`],
  [{ type: "claim-cleanup", attempt, owner: "" }, `event claim-cleanup: owner must be ${NAME}, got ""`],
  [
    { type: "cleanup-done", claim: 1, ok: true },
    `event cleanup-done: attempt must be ${NAME}, got undefined`,
  ],
  [
    { type: "cleanup-done", attempt, claim: "1", ok: true },
    `event cleanup-done: claim must be ${COUNT}, got "1"`,
  ],
  [
    { type: "cleanup-done", attempt, claim: 1, ok: "yes" },
    'event cleanup-done: ok must be a boolean, got "yes"',
  ],
  [
    { type: "cleanup-done", attempt, claim: 1, ok: false, error: 5 },
    "event cleanup-done: error must be a string, got 5",
  ],
  [
    { type: "waive-cleanup", by: "b", reason: "r" },
    `event waive-cleanup: attempt must be ${NAME}, got undefined`,
  ],
  [
    { type: "waive-cleanup", attempt, by: "", reason: "r" },
    `event waive-cleanup: by must be ${NAME}, got ""`,
  ],
  [
    { type: "waive-cleanup", attempt, by: "b", reason: null },
    "event waive-cleanup: reason must be a string, got null",
  ],
];

describe("checkEvent", () => {
  it.each(mistakes)("says of %j what is wrong with it", (event, message) => {
    expect(messageOf(event)).toBe(`Invalid ${message}`);
  });

  it("takes a name up to its limit, and not beyond", () => {
    const named = (length: number): unknown => ({ type: "enter", attempt, phase: "x".repeat(length) });
    expect(messageOf(named(256))).toBeNull();
    expect(messageOf(named(257))).toMatch(/^Invalid event enter: phase must be a string of 1 to 256/);
  });

  it("takes instants that leave room for what is after them", () => {
    const committed = (committedAt: number): unknown => ({
      type: "change",
      attempt,
      generation: 1,
      committedAt,
    });
    expect(messageOf(committed(LAST_INSTANT - 1))).toBeNull();
    expect(messageOf(committed(1 - LAST_INSTANT))).toBeNull();
    for (const wrong of [LAST_INSTANT, -LAST_INSTANT, 1.5, 2 ** 53]) {
      expect(messageOf(committed(wrong))).toMatch(/^Invalid event change: committedAt must be/);
    }
  });

  // A report of progress with it is in the tests of applying events.
  it("takes null for what is absent in a change and a rejection", () => {
    expect(messageOf({ type: "change", attempt, generation: 0, digest: null, committedAt: null })).toBeNull();
    expect(
      messageOf({ type: "reject", attempt, generation: 0, digest: null, reason: null, message: null }),
    ).toBeNull();
  });
});
