import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyDeadlineEvent, startAttempt } from "../../src/deadline/index.js";
import {
  applyStepEvent,
  deadlineProgress,
  formatStep,
  readSteps,
  rebaseTracker,
  startTracking,
  type StepEvent,
  type StepOutcome,
  type StepReading,
  type TrackerState,
} from "../../src/progress/index.js";
import { decodeTrackerState } from "../../src/schema/index.js";

const START = 1_000_000;
const names = ["bootstrap", "export", "disk"] as const;
const subjectOf = (step: string): string => (step === "bootstrap" ? "bootstrap:1" : "local-big:1");

interface Move {
  readonly event: StepEvent;
  readonly waitMs: number;
  readonly restartBy?: number | undefined;
}

const quantity = fc.oneof(
  { weight: 8, arbitrary: fc.nat(1000) },
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, -0, Number.MAX_VALUE, Number.MIN_VALUE),
);
const run = fc.option(fc.nat(2), { nil: undefined, freq: 6 });
const step = fc.constantFrom(...names, "unheard of");
const subject = fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, fc.constant("bootstrap:1"));

const event: fc.Arbitrary<StepEvent> = fc
  .record({
    type: fc.constantFrom(
      "report" as const,
      "report" as const,
      "report" as const,
      "start" as const,
      "finish" as const,
    ),
    step,
    subject,
    position: quantity,
    total: fc.option(quantity, { nil: undefined, freq: 2 }),
    part: fc.constantFrom(undefined, "a", "b"),
    unit: fc.constantFrom(undefined, undefined, "bytes", "s"),
    run,
  })
  .map((raw) => ({ ...raw, subject: raw.subject ?? subjectOf(raw.step) }));

const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.record({
    event,
    waitMs: fc.integer({ min: -500, max: 5000 }),
    restartBy: fc.option(fc.integer({ min: -10_000, max: 10_000 }), { nil: undefined, freq: 10 }),
  }),
  { maxLength: 60 },
);

interface Played {
  readonly before: TrackerState;
  readonly after: TrackerState;
  readonly event: StepEvent;
  readonly outcome: StepOutcome;
  readonly now: number;
}

function fresh(): TrackerState {
  const steps = names.map((name) => ({ step: name, label: `${name} done`, subject: subjectOf(name) }));
  return startTracking([steps[0]!, { ...steps[1]!, total: 500 }, steps[2]!], START);
}

/** Plays moves; a restart stores, decodes strictly and moves onto a clock that may be anywhere. */
function* play(list: readonly Move[]): Generator<Played> {
  let state = fresh();
  let now = START;
  for (const move of list) {
    now += move.waitMs;
    if (move.restartBy !== undefined) {
      now += move.restartBy;
      const loaded = decodeTrackerState(JSON.parse(JSON.stringify(state)));
      expect(loaded).toEqual(state);
      state = rebaseTracker(loaded, now);
    }
    const { state: after, outcome } = applyStepEvent(state, move.event, now);
    yield { before: state, after, event: move.event, outcome, now };
    state = after;
  }
}

const check = (law: (played: Played) => void): void =>
  fc.assert(
    fc.property(moves, (list) => {
      for (const played of play(list)) law(played);
    }),
    { numRuns: 400 },
  );

const readingsOf = (state: TrackerState, now: number): readonly StepReading[] => readSteps(state, now);

describe("whatever happens to steps", () => {
  it("every state survives JSON and the strict decoder, which finds no contradiction", () => {
    check(({ after }) => expect(decodeTrackerState(JSON.parse(JSON.stringify(after)))).toEqual(after));
  });

  it("a refusal changes nothing, and what is applied has a new version", () => {
    check(({ before, after, outcome }) => {
      if (outcome.applied) expect(after.version).toBe(before.version + 1);
      else expect(after).toBe(before);
      expect(outcome.changed).toBe(outcome.applied);
    });
  });

  it("the same event again is refused, unless it starts or ends", () => {
    check(({ after, event: again, outcome, now }) => {
      if (outcome.applied)
        expect(applyStepEvent(after, again, now).outcome).toMatchObject({ applied: false, why: "duplicate" });
    });
  });

  it("another subject touches nothing", () => {
    check(({ event: { step: name, subject: of }, outcome }) => {
      if (of !== subjectOf(name)) expect(outcome.applied).toBe(false);
    });
  });

  it("positions of a run only rise, and are numbers", () => {
    check(({ before, after, now }) => {
      const was = readingsOf(before, now);
      for (const [index, { position }] of readingsOf(after, now).entries()) {
        if (after.steps[index]!.run !== before.steps[index]!.run && after.steps[index]!.marks.length < 2)
          continue;
        expect(position ?? 0).toBeGreaterThanOrEqual(was[index]!.position ?? 0);
        expect(Number.isFinite(position ?? 0)).toBe(true);
      }
    });
  });

  it("a percentage is whole, needs a total, and is 100 exactly when the step is finished", () => {
    fc.assert(
      fc.property(moves, (list) => {
        for (const { after, now } of play(list)) {
          for (const { percent, total, finished } of readingsOf(after, now)) {
            if (percent === null) continue;
            expect(total).not.toBe(null);
            expect(Number.isInteger(percent) && percent >= 0).toBe(true);
            expect(percent === 100).toBe(finished);
          }
        }
      }),
      { numRuns: 400 },
    );
  });

  it("elapsed time, silence and rate are finite and 0 or more, and a step that runs does not get younger", () => {
    check(({ before, after, now }) => {
      const was = readingsOf(before, now);
      for (const [index, reading] of readingsOf(after, now).entries()) {
        for (const value of [reading.elapsedMs, reading.quietMs, reading.perSecond ?? 0]) {
          expect(value >= 0 && Number.isFinite(value)).toBe(true);
        }
        if (reading.status === "running")
          expect(reading.elapsedMs).toBeGreaterThanOrEqual(was[index]!.elapsedMs);
        expect(formatStep(reading)).toMatch(/^[✓…] .+ \(.*\)$/u);
        expect(formatStep(reading)).not.toMatch(/NaN|Infinity|undefined|null/);
      }
    });
  });

  it("each step is completed at most once, and begins at most once", () => {
    fc.assert(
      fc.property(moves, (list) => {
        const told: string[] = [];
        for (const {
          event: { step: name },
          outcome,
        } of play(list)) {
          if (!outcome.applied) continue;
          told.push(...outcome.completed.map((completed) => `end ${completed}`));
          if (outcome.started) told.push(`begin ${name}`);
        }
        expect(new Set(told).size).toBe(told.length);
      }),
    );
  });

  it("beginning a step leaves no earlier one under way, and nothing else ends one but its own finish", () => {
    check(({ before, after, event: { step: name, type }, outcome }) => {
      if (!outcome.applied) return;
      const place = names.indexOf(name as (typeof names)[number]);
      for (const [index, tracked] of after.steps.entries()) {
        const underWay = tracked.startedAt !== null && tracked.finishedAt === null;
        if (outcome.started && index < place) expect(underWay).toBe(false);
        const ended = before.steps[index]!.finishedAt === null && tracked.finishedAt !== null;
        if (ended) expect(index < place || (index === place && type === "finish")).toBe(true);
      }
    });
  });

  it("a deadline takes every sign that it is given, so that both agree on what is progress", () => {
    fc.assert(
      fc.property(moves, (list) => {
        let deadline = startAttempt({ phases: [{ name: "preparation" }] }, { attempt: "a1", now: START })
          .state!;
        for (const { outcome } of play(list)) {
          const progress = deadlineProgress(outcome, { attempt: "a1", phase: "preparation" });
          if (progress === null) continue;
          const taken = applyDeadlineEvent(deadline, progress, START);
          expect(taken.outcome).toMatchObject({ applied: true });
          deadline = taken.state;
        }
      }),
      { numRuns: 400 },
    );
  });
});
