import { describe, expect, it } from "vitest";
import {
  type Condition,
  convertConditions,
  matchesReason,
  sandboxReasons,
  stateIsolationMismatch,
} from "./index.js";

describe("stateIsolationMismatch", () => {
  const now = Date.UTC(2026, 0, 1);
  const message = "restore the gateway selection or create a new sandbox";

  it("states the mismatch with the timeout as its general reason, and beside it the companion condition", () => {
    const stored = stateIsolationMismatch([], { now, timedOut: true, message, observedGeneration: 3 });
    expect(stored).toEqual([
      {
        type: "Ready",
        status: "False",
        reason: "IsolationBackendMismatch",
        generalReasons: ["ImagePreparationTimedOut"],
        message,
        observedGeneration: 3,
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
      {
        type: "IsolationBackendMatched",
        status: "False",
        reason: "IsolationBackendMismatch",
        message,
        observedGeneration: 3,
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ]);
    expect(
      stateIsolationMismatch(stored, { now: now + 5000, timedOut: true, message, observedGeneration: 3 }),
    ).toBe(stored);
  });

  it("takes over the form in which a deadline publishes it, and shows it in both contracts", () => {
    const published: Condition[] = [
      {
        type: "Ready",
        status: "False",
        reason: "ImagePreparationTimedOut",
        cause: { reason: "IsolationBackendMismatch", message },
        message: "preparation took 30 min",
        lastTransitionTime: "2025-12-31T23:00:00Z",
      },
    ];
    expect(convertConditions(published, { catalog: sandboxReasons, contract: 1 })).toBe(published);
    expect(convertConditions(published, { catalog: sandboxReasons, contract: 2 })).toBe(published);
    expect(matchesReason(published[0], "IsolationBackendMismatch")).toBe(true);

    const stored = stateIsolationMismatch(published, { now, timedOut: true, message });
    expect(stored[0]).toMatchObject({
      reason: "IsolationBackendMismatch",
      lastTransitionTime: "2025-12-31T23:00:00Z",
    });
    const [old] = convertConditions(stored, { catalog: sandboxReasons, contract: 1 });
    expect(old).toMatchObject({
      reason: "ImagePreparationTimedOut",
      cause: { reason: "IsolationBackendMismatch", message },
    });
  });
});
