import fc from "fast-check";
import type { PlanDefinition } from "../../src/deadline/index.js";
import type { EventOf } from "./support.js";

const ms = fc.integer({ min: 1, max: 400 });

/** Plans of one to three short phases, so that random runs meet every bound. */
export const plans: fc.Arbitrary<PlanDefinition> = fc
  .record({
    phases: fc.array(
      fc.record(
        {
          budgetMs: ms,
          renewOn: fc.constant("change" as const),
          stall: fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
          perStep: fc.boolean(),
          ceilingMs: fc.integer({ min: 1, max: 900 }),
        },
        { requiredKeys: ["stall", "perStep"] },
      ),
      { minLength: 1, maxLength: 3 },
    ),
    ceilingMs: fc.option(fc.integer({ min: 1, max: 1500 }), { nil: undefined }),
    cleanupBudgetMs: fc.integer({ min: 1, max: 50 }),
    observeEveryMs: fc.integer({ min: 1, max: 100 }),
  })
  .map(({ phases, ...plan }) => ({
    ...plan,
    ceilingMayTruncate: true,
    phases: phases.map(({ stall, perStep, ...phase }, index) => {
      const limit = stall === undefined ? undefined : Math.min(stall, phase.budgetMs ?? stall);
      return {
        ...phase,
        name: `phase-${index}`,
        stallMs: limit === undefined ? undefined : perStep ? { s0: limit, s1: Math.ceil(limit / 2) } : limit,
      };
    }),
  }));

const attempt = fc.option(fc.constantFrom("a1", "stale"), { nil: undefined, freq: 6 });
const phase = fc.constantFrom("phase-0", "phase-1", "phase-2", "nowhere");
const step = fc.option(fc.constantFrom("s0", "s1", "s2"), { nil: undefined });
/** With the zero that JSON cannot carry. */
const small = fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 0, max: 6 }) }, fc.constant(-0));
const digest = fc.option(fc.constantFrom("d1", "d2", "d3"), { nil: undefined });

/** Events of every kind, with values that collide often. `committedAt` is relative to the instant of the event. */
const events: fc.Arbitrary<EventOf> = fc.oneof(
  fc.record({
    type: fc.constant("progress" as const),
    attempt,
    phase,
    step,
    part: fc.option(fc.constantFrom("p0", "p1"), { nil: undefined }),
    position: fc.option(fc.oneof(small, fc.constantFrom(Number.NaN, -1, 0.5)), { nil: undefined }),
    run: fc.option(fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(-0)), { nil: undefined }),
  }),
  fc.record({ type: fc.constant("enter" as const), attempt, phase }),
  fc.record({
    type: fc.constant("change" as const),
    attempt,
    generation: small,
    digest,
    committedAt: fc.option(fc.integer({ min: -500, max: 500 }), { nil: undefined }),
  }),
  fc.record({
    type: fc.constant("reject" as const),
    attempt,
    generation: small,
    digest,
    message: fc.constantFrom("why", undefined),
  }),
  fc.record({ type: fc.constantFrom("pause" as const, "resume" as const), attempt, seq: small }),
  fc.record({ type: fc.constant("complete" as const), attempt }),
  fc.record({ type: fc.constant("cancel" as const), attempt, reason: fc.constant("stop") }),
  fc.record({ type: fc.constant("tick" as const) }),
  fc.record({ type: fc.constant("claim-cleanup" as const), attempt, owner: fc.constantFrom("g1", "g2") }),
  fc.record({
    type: fc.constant("cleanup-done" as const),
    attempt,
    claim: fc.integer({ min: 0, max: 3 }),
    ok: fc.boolean(),
  }),
  fc.record({
    type: fc.constant("waive-cleanup" as const),
    attempt,
    by: fc.constant("op"),
    reason: fc.constant("gone"),
  }),
);

/** What happens between events: time, a crash with a clock that may have been set, or a duplicate delivery. */
export interface Move {
  readonly event: EventOf;
  /** Time since the move before; negative means that the caller's clock went back. */
  readonly waitMs: number;
  readonly twice: boolean;
  /** The process restarts before the event, with its wall clock moved by this. */
  readonly restartBy: number | undefined;
}

export const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.record({
    event: events,
    waitMs: fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: 0, max: 120 }) },
      fc.integer({ min: -300, max: 0 }),
    ),
    twice: fc.boolean(),
    restartBy: fc.option(fc.integer({ min: -500, max: 500 }), { nil: undefined, freq: 8 }),
  }),
  { maxLength: 40 },
);
