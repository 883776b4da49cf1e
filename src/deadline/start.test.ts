import { describe, expect, it } from "vitest";
import { isSlipwayError } from "../errors.js";
import { applyDeadlineEvent } from "./apply.js";
import { PhasedDeadline } from "./phased-deadline.js";
import { decodeDeadlineState } from "../schema/index.js";
import { VirtualClock } from "../testing/index.js";
import { rebaseClock } from "./rebase.js";
import { startAttempt, type StartAttemptOptions } from "./start.js";
import type { DeadlineState } from "./state.js";

const plan = {
  phases: [
    { name: "prepare", budgetMs: 100 },
    { name: "admit", budgetMs: 100 },
  ],
};

function fresh(options: Partial<StartAttemptOptions> = {}): DeadlineState {
  const { state } = startAttempt(plan, { attempt: "a1", now: 0, ...options });
  if (state === undefined) throw new Error("refused");
  return state;
}

describe("startAttempt", () => {
  it("refuses while the attempt before it lives", () => {
    expect(startAttempt(plan, { attempt: "a2", now: 99, previous: fresh() })).toEqual({
      refused: "previous-active",
    });
  });

  it("refuses a token that was used", () => {
    const done = applyDeadlineEvent(fresh({ phase: "admit" }), { type: "complete", attempt: "a1" }, 1).state;
    expect(startAttempt(plan, { attempt: "a1", now: 2, previous: done })).toEqual({
      refused: "token-reused",
    });
    expect(startAttempt(plan, { attempt: "a2", now: 2, previous: done }).state?.attempt).toBe("a2");
  });

  it("refuses until the cleanup is done, also of an expiry that nobody has written", () => {
    expect(startAttempt(plan, { attempt: "a2", now: 100, previous: fresh() })).toEqual({
      refused: "cleanup-pending",
    });
    let state = applyDeadlineEvent(fresh(), { type: "cancel", attempt: "a1", reason: "stop" }, 1).state;
    expect(startAttempt(plan, { attempt: "a2", now: 2, previous: state })).toEqual({
      refused: "cleanup-pending",
    });
    state = applyDeadlineEvent(state, { type: "claim-cleanup", attempt: "a1", owner: "g" }, 3).state;
    expect(startAttempt(plan, { attempt: "a2", now: 3, previous: state })).toEqual({
      refused: "cleanup-pending",
    });
    state = applyDeadlineEvent(state, { type: "cleanup-done", attempt: "a1", claim: 1, ok: true }, 4).state;
    expect(startAttempt(plan, { attempt: "a2", now: 5, previous: state }).state).toMatchObject({
      startedAt: 5,
      version: 1,
    });
  });

  it("refuses when the parent leaves too little", () => {
    const within = (deadlineAt: number | null, minStartMs?: number) =>
      startAttempt(plan, { attempt: "a1", now: 1000, parent: { deadlineAt }, minStartMs });
    expect(within(1000)).toEqual({ refused: "parent-too-short", remainingMs: 0 });
    expect(within(900)).toEqual({ refused: "parent-too-short", remainingMs: 0 });
    expect(within(1049, 50)).toEqual({ refused: "parent-too-short", remainingMs: 49 });
    expect(within(1050, 50).state?.parentDeadlineAt).toBe(1050);
    expect(within(1001).state?.parentDeadlineAt).toBe(1001);
    expect(within(null).state?.parentDeadlineAt).toBe(null);
  });

  it("may start in a later phase, to adopt a record from before", () => {
    expect(fresh({ phase: "admit", now: 7 })).toMatchObject({
      phase: "admit",
      phaseEnteredAt: 7,
      windowEndsAt: 107,
    });
  });

  it("takes null for absent, as JSON of other languages writes it", () => {
    const nothing = { configuration: null, parent: { deadlineAt: null }, previous: null };
    expect(fresh(nothing)).toEqual(fresh());
    expect(
      fresh({ configuration: { generation: 1, digest: null, committedAt: null } }).configuration,
    ).toEqual({
      generation: 1,
      digest: null,
      committedAt: null,
    });
  });

  it("holds instants where time ends, whatever a plan allows", () => {
    const long = { phases: [{ name: "run", budgetMs: Number.MAX_SAFE_INTEGER }] };
    const { state } = startAttempt(long, { attempt: "a", now: 1_800_000_000_000 });
    expect(state?.windowEndsAt).toBe(8.64e15);
    const rebased = rebaseClock(state!, 1_700_000_000_000);
    expect(decodeDeadlineState(JSON.parse(JSON.stringify(rebased)))).toEqual(rebased);
    expect(() => startAttempt(long, { attempt: "a", now: 8.64e15 })).toThrow(/now must be a safe integer/);
  });

  it.each([
    ["previous", { previous: {} }],
    ["parent", { parent: 5 }],
    ["attempt", { attempt: "" }],
    ["attempt", { attempt: 7 }],
    ["now", { now: Number.NaN }],
    ["now", { now: 1.5 }],
    ["now", { now: "0" }],
    ["phase", { phase: "nowhere" }],
    ["minStartMs", { minStartMs: -1 }],
    ["parent.deadlineAt", { parent: { deadlineAt: Number.POSITIVE_INFINITY } }],
    ["configuration.generation", { configuration: { generation: -1 } }],
    ["configuration.digest", { configuration: { generation: 1, digest: "" } }],
    ["configuration.committedAt", { configuration: { generation: 1, committedAt: Number.NaN } }],
  ])("names a wrong %s", (field, wrong) => {
    try {
      startAttempt(plan, { attempt: "a1", now: 0, ...wrong } as StartAttemptOptions);
    } catch (error) {
      expect(isSlipwayError(error) && error.field).toBe(field);
      return;
    }
    expect.fail("accepted");
  });

  it.each([
    ["previous", { previous: { schemaVersion: 1 } }, "a deadline state"],
    ["previous", { previous: { plan } }, "a deadline state"],
    ["previous", { previous: { ...fresh(), schemaVersion: 2 } }, "a deadline state"],
    ["previous", { previous: "a1" }, "a deadline state"],
    ["parent", { parent: "soon" }, "an object with a deadlineAt"],
    ["attempt", { attempt: "a".repeat(257) }, "a token of 1 to 256 characters"],
    ["attempt", { attempt: ["a1"] }, "a token of 1 to 256 characters"],
    ["minStartMs", { minStartMs: 0.5 }, "a safe integer, 0 or more"],
    ["phase", { phase: "nowhere" }, "a phase of the plan"],
    ["configuration.generation", { configuration: { generation: "1" } }, "a safe integer, 0 or more"],
    [
      "configuration.digest",
      { configuration: { generation: 1, digest: ["d"] } },
      "a digest of 1 to 256 characters",
    ],
    [
      "configuration.digest",
      { configuration: { generation: 1, digest: "d".repeat(257) } },
      "a digest of 1 to 256 characters",
    ],
  ])("says what a wrong %s has to be", (field, wrong, expected) => {
    expect(() => startAttempt(plan, { attempt: "a1", now: 0, ...wrong } as StartAttemptOptions)).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        field,
        message: expect.stringContaining(`Invalid start option: ${field} must be ${expected}`),
      }),
    );
  });

  it.each([[undefined], [null], ["a1"]])("wants options, not %s", (options) => {
    expect(() => startAttempt(plan, options as unknown as StartAttemptOptions)).toThrow(
      "Invalid start option: options must be an object",
    );
  });

  it("takes names as long as a record may carry, and the generation 0", () => {
    const longest = "x".repeat(256);
    const state = fresh({ attempt: longest, configuration: { generation: 0, digest: longest } });
    expect(state).toMatchObject({ attempt: longest, configuration: { generation: 0, digest: longest } });
  });

  it("records when the configuration was committed, and never later than the start", () => {
    const committed = (committedAt: number) =>
      fresh({ now: 50, configuration: { generation: 1, committedAt } }).configuration?.committedAt;
    expect(committed(20)).toBe(20);
    expect(committed(80)).toBe(50);
  });

  it.each([
    ["previous-active", "(`previous`) is still active", "previous"],
    ["token-reused", "mint a new one", "attempt"],
    ["cleanup-pending", "the cleanup of the attempt before it (`previous`) is pending", "previous"],
    ["parent-too-short", "its parent leaves less than `minStartMs`", "parent"],
  ] as const)("says of %s what to do, and shows no token", (refused, says, field) => {
    const clock = new VirtualClock({ startAt: 20 });
    const active = fresh({ attempt: "s3cret", now: 10 });
    const cancelled = applyDeadlineEvent(
      active,
      { type: "cancel", attempt: "s3cret", reason: "x" },
      11,
    ).state;
    const options = {
      "previous-active": { attempt: "t0ken", previous: active },
      "token-reused": { attempt: "s3cret", previous: cancelled },
      "cleanup-pending": { attempt: "t0ken", previous: cancelled },
      "parent-too-short": { attempt: "t0ken", parent: { deadlineAt: 20 } },
    }[refused];
    try {
      PhasedDeadline.start(plan, { ...options, clock });
      expect.unreachable("it started");
    } catch (error) {
      expect(error).toMatchObject({ code: "START_REFUSED", refused, field });
      expect((error as Error).message).toContain(says);
      expect((error as Error).message).not.toMatch(/s3cret|t0ken/);
    }
  });

  it("is thrown by the live deadline, which has no value to refuse with", () => {
    expect(() => PhasedDeadline.start(plan, { attempt: "a2", previous: fresh({ now: Date.now() }) })).toThrow(
      "The attempt may not start: previous-active",
    );
    const late = { attempt: "a2", parent: { deadlineAt: 5 } };
    expect(() => PhasedDeadline.start(plan, late)).toThrow(
      expect.objectContaining({ refused: "parent-too-short", remainingMs: 0, field: "parent" }),
    );
  });
});
