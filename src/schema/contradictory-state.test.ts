import { describe, expect, it } from "vitest";
import { copy, faultOf, samples } from "../../test/deadline/sample-states.js";

describe("decodeDeadlineState", () => {
  it.each([
    ["a phase that the plan has not", "fresh", { phase: "nowhere" }, "phase"],
    ["a longer window in a fixed phase", "fresh", { windowEndsAt: 1001 }, "windowEndsAt"],
    ["a shorter window", "fresh", { windowEndsAt: 999 }, "windowEndsAt"],
    ["no window where there is a budget", "fresh", { windowEndsAt: null }, "windowEndsAt"],
    ["an active state at its deadline", "fresh", { observedAt: 1000 }, "status"],
    ["an entry before the start", "fresh", { startedAt: 5 }, "startedAt"],
    ["a parent that ended before the start", "fresh", { parentDeadlineAt: 0 }, "parentDeadlineAt"],
    ["a stall limit of no step", "preparing", { stallLimitMs: 99 }, "stallLimitMs"],
    ["a stall without a limit", "fresh", { stallEndsAt: 100 }, "stallEndsAt"],
    ["a pause without its seq", "paused", { pauseSeq: null }, "pauseSeq"],
    [
      "a mark twice",
      "preparing",
      {
        marks: [
          { step: "a", part: null, position: 1 },
          { step: "a", part: null, position: 2 },
        ],
      },
      "marks[1]",
    ],
    [
      "a first phase that began late",
      "fresh",
      { phaseEnteredAt: 1, windowEndsAt: 1001, observedAt: 1 },
      "phaseEnteredAt",
    ],
    ["a renewal by no configuration", "renewed", { configuration: null }, "windowEndsAt"],
    ["a completion before its phase", "completed", { completedAt: 9 }, "completedAt"],
    ["a completion after which time went on", "completed", { observedAt: 21 }, "observedAt"],
    [
      "a cancellation before the start",
      "cancelled",
      { cancellation: { at: -1, reason: "stop" } },
      "cancellation.at",
    ],
    ["an expiry after which time went on", "stalled", { observedAt: 501 }, "observedAt"],
    ["a stall limit without its step", "fresh", { stallLimitMs: 100, stallEndsAt: 100 }, "stallLimitMs"],
    [
      "a listed step without its limit",
      "preparing",
      { stallLimitMs: null, stallEndsAt: null },
      "stallLimitMs",
    ],
    [
      "a rejected content that is not remembered",
      "rejected",
      { spentRejections: ["digest d9"] },
      "spentRejections",
    ],
    [
      "a content remembered twice",
      "rejected",
      { spentRejections: ["digest d1", "digest d1"] },
      "spentRejections",
    ],
    [
      "rejected contents of no configuration",
      "fresh",
      { configuration: null, spentRejections: ["digest d1"] },
      "spentRejections",
    ],
    [
      "too many steps",
      "fresh",
      { marks: Array.from({ length: 65 }, (_, step) => ({ step: `s${step}`, part: null, position: null })) },
      "marks",
    ],
    [
      "a claim that left no trace",
      "stalled",
      { cleanup: { ...samples["stalled"]?.cleanup, claims: 2 } },
      "cleanup.error",
    ],
    ["a schema version of zero", "fresh", { schemaVersion: 0 }, "schemaVersion"],
    ["a rejection of no configuration", "rejected", { configuration: null }, "configuration"],
    ["an expiry of a living attempt", "fresh", { expiry: samples["stalled"]?.expiry }, "expiry"],
    ["no expiry of an expired one", "stalled", { expiry: null }, "expiry"],
    [
      "a completion in another phase",
      "completed",
      { phase: "prepare", phaseEnteredAt: 0, windowEndsAt: 1000 },
      "phase",
    ],
    [
      "a living attempt that needs a cleanup",
      "fresh",
      { cleanup: samples["stalled"]?.cleanup },
      "cleanup.status",
    ],
    ["a schema version as text", "fresh", { schemaVersion: "1" }, "schemaVersion"],
  ])("refuses %s", (_what, name, damage, field) => {
    expect(faultOf({ ...copy(samples[name]!), ...damage }).field).toBe(field);
  });

  it.each([
    ["another bound", { limitedBy: "budget" }, "expiry.limitedBy"],
    ["another instant", { at: 111 }, "expiry.at"],
    ["another reason", { reason: "ProvisioningTimedOut" }, "expiry.reason"],
    ["another phase", { phase: "admit" }, "expiry.phase"],
    ["an expiry that was seen before it came", { observedAt: 100 }, "expiry.at"],
  ])("refuses an expiry that names %s", (_what, damage, field) => {
    const state = samples["stalled"]!;
    expect(faultOf({ ...copy(state), expiry: { ...state.expiry, ...damage } }).field).toBe(field);
  });
});
