import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  applyDeadlineEvent,
  PhasedDeadline,
  readDeadline,
  rebaseClock,
  startAttempt,
  type DeadlineEvent,
  type DeadlineOutcome,
  type DeadlineState,
  type PlanDefinition,
} from "../../src/deadline/index.js";
import { decodeDeadlineState } from "../../src/schema/index.js";
import { VirtualClock } from "../../src/testing/index.js";
import { moves, plans, type Move } from "./arbitrary.js";
import type { EventOf } from "./support.js";

/** One application of an event, with what a checker wants to see of it. */
interface Applied {
  readonly before: DeadlineState;
  readonly after: DeadlineState;
  readonly event: DeadlineEvent;
  readonly outcome: DeadlineOutcome;
  readonly now: number;
}

const START = 1_000_000;

function first(plan: PlanDefinition): DeadlineState {
  const { state } = startAttempt(plan, {
    attempt: "a1",
    now: START,
    configuration: { generation: 1, digest: "d1" },
  });
  if (state === undefined) throw new Error("refused");
  return state;
}

function complete(event: EventOf, now: number): DeadlineEvent {
  const full = { attempt: "a1", ...event } as DeadlineEvent;
  const named =
    "attempt" in full && (full.attempt as string | undefined) === undefined
      ? { ...full, attempt: "a1" }
      : full;
  return named.type === "change" && named.committedAt !== undefined
    ? { ...named, committedAt: now + named.committedAt }
    : named;
}

/** Plays moves against the pure function; `rebased` marks where the instants were moved onto another clock. */
function* play(plan: PlanDefinition, list: readonly Move[]): Generator<Applied & { shift: number }> {
  let state = first(plan);
  let now = START;
  let shift = 0;
  for (const move of list) {
    now += move.waitMs;
    if (move.restartBy !== undefined) {
      now += move.restartBy;
      const loaded = decodeDeadlineState(JSON.parse(JSON.stringify(state)));
      const rebased = rebaseClock(loaded, now);
      shift += rebased.startedAt - loaded.startedAt;
      state = rebased;
    }
    const event = complete(move.event, now);
    for (let delivery = 0; delivery < (move.twice ? 2 : 1); delivery += 1) {
      const { state: after, outcome } = applyDeadlineEvent(state, event, now);
      yield { before: state, after, event, outcome, now, shift };
      state = after;
    }
  }
}

const runs = { numRuns: 400 };
const remaining = (state: DeadlineState, now: number) => readDeadline(state, now).remainingMs;

describe("properties of a deadline, over any events, restarts, clock steps and duplicates", () => {
  it("the ceiling never moves", () => {
    fc.assert(
      fc.property(plans, moves, (plan, list) => {
        const ceiling = readDeadline(first(plan), START).bounds["attempt-ceiling"];
        for (const { after, shift } of play(plan, list)) {
          expect(readDeadline(after, after.observedAt).bounds["attempt-ceiling"]).toBe(
            ceiling === null ? null : ceiling + shift,
          );
          if (ceiling !== null) expect(after.expiry?.at ?? 0).toBeLessThanOrEqual(ceiling + shift);
        }
      }),
      runs,
    );
  });

  it("the budget's end moves only by enter, a real change, a first rejection, and a pause", () => {
    fc.assert(
      fc.property(plans, moves, (plan, list) => {
        for (const { before, after, event, outcome, now } of play(plan, list)) {
          const gained = remaining(after, now) > remaining(before, now);
          if (!gained) continue;
          expect(outcome.applied).toBe(true);
          expect(["enter", "change", "reject", "pause", "progress", "resume"]).toContain(event.type);
          // Progress postpones a stall and nothing else.
          if (event.type === "progress") expect(after.windowEndsAt).toBe(before.windowEndsAt);
          if (event.type === "change" || event.type === "reject") {
            expect(outcome).toMatchObject({ renewed: true });
          }
        }
      }),
      runs,
    );
  });

  it("while it is not paused, what remains of the budget never exceeds the budget", () => {
    fc.assert(
      fc.property(plans, moves, (plan, list) => {
        for (const { after } of play(plan, list)) {
          const budget = after.plan.phases.find((phase) => phase.name === after.phase)?.budgetMs;
          if (budget === undefined || after.windowEndsAt === null) continue;
          expect(after.windowEndsAt - (after.pausedAt ?? after.observedAt)).toBeLessThanOrEqual(budget);
        }
      }),
      runs,
    );
  });

  it("nothing leaves a settled state, and only its cleanup still changes", () => {
    fc.assert(
      fc.property(plans, moves, (plan, list) => {
        for (const { before, after } of play(plan, list)) {
          if (before.status === "active") continue;
          expect({ ...after, cleanup: null, version: 0, observedAt: 0 }).toEqual({
            ...before,
            cleanup: null,
            version: 0,
            observedAt: 0,
          });
        }
      }),
      runs,
    );
  });

  it("a state is written exactly when it changed, and then under the next version", () => {
    fc.assert(
      fc.property(plans, moves, (plan, list) => {
        for (const { before, after, outcome } of play(plan, list)) {
          expect(after !== before).toBe(outcome.changed);
          expect(after.version).toBe(before.version + (outcome.changed ? 1 : 0));
          if (!outcome.applied && outcome.changed) expect(after.status).toBe("expired");
        }
      }),
      runs,
    );
  });

  it("a second delivery changes nothing, unless the first one only found the expiry", () => {
    fc.assert(
      fc.property(plans, moves, (plan, list) => {
        let previous: Applied | undefined;
        for (const step of play(plan, list)) {
          const heard = previous !== undefined && (previous.outcome.applied || !previous.outcome.changed);
          const redelivered = heard && previous?.event === step.event;
          // A claim is renewed by its owner on purpose.
          if (redelivered && step.event.type !== "claim-cleanup") expect(step.outcome.changed).toBe(false);
          previous = step;
        }
      }),
      runs,
    );
  });

  it("expiry comes first, at its own instant, and is found by whatever arrives", () => {
    fc.assert(
      fc.property(plans, moves, (plan, list) => {
        for (const { before, after, outcome, now } of play(plan, list)) {
          const reading = readDeadline(before, now);
          if (before.status !== "active" || reading.status !== "expired") continue;
          expect(outcome).toMatchObject({ applied: false, changed: true });
          expect(after.expiry?.at).toBe(readDeadline(before, before.observedAt).deadlineAt);
          expect(after.expiry?.observedAt).toBe(Math.max(now, before.observedAt));
        }
      }),
      runs,
    );
  });

  it("decode(encode(state)) is the state", () => {
    fc.assert(
      fc.property(plans, moves, (plan, list) => {
        for (const { after } of play(plan, list)) {
          expect(decodeDeadlineState(JSON.parse(JSON.stringify(after)))).toEqual(after);
        }
      }),
      { numRuns: 100 },
    );
  });

  it("a clock that was set back leaves what was left, and no more", () => {
    fc.assert(
      fc.property(plans, moves, fc.integer({ min: 1, max: 10_000 }), (plan, list, back) => {
        for (const { after } of play(plan, list)) {
          const left = remaining(after, after.observedAt);
          const now = after.observedAt - back;
          expect(remaining(after, now)).toBe(left);
          const rebased = rebaseClock(after, now);
          expect(remaining(rebased, now)).toBe(left);
          expect(rebaseClock(rebased, now)).toBe(rebased);
          expect(decodeDeadlineState(JSON.parse(JSON.stringify(rebased)))).toEqual(rebased);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("the live deadline and the pure function give the same answers", () => {
    fc.assert(
      fc.property(plans, moves, (plan, list) => {
        const clock = new VirtualClock({ startAt: START });
        const options = { attempt: "a1", clock, configuration: { generation: 1, digest: "d1" } };
        const live = PhasedDeadline.start(plan, options);
        let pure = first(plan);
        for (const { event: given, waitMs } of list) {
          clock.advance(Math.abs(waitMs));
          const event = complete(given, clock.now());
          // The alarm has rung by itself where something was due: the pure side learns of it by a tick.
          if (readDeadline(pure, clock.now()).status === "expired" && pure.status === "active") {
            const due = readDeadline(pure, pure.observedAt).deadlineAt ?? clock.now();
            pure = applyDeadlineEvent(pure, { type: "tick" }, due).state;
          }
          const step = applyDeadlineEvent(pure, event, clock.now());
          pure = step.state;
          expect(live.apply(event)).toEqual(step.outcome);
          expect(live.state).toEqual(pure);
          expect(live.remainingMs()).toBe(remaining(pure, clock.now()));
          expect(live.signal.aborted).toBe(pure.status === "expired" || pure.status === "cancelled");
        }
        live[Symbol.dispose]();
        expect(clock.timers).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});
