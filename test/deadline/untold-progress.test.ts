import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  applyDeadlineEvent,
  PhasedDeadline,
  startAttempt,
  type DeadlineEvents,
  type DeadlineState,
  type PlanDefinition,
} from "../../src/deadline/index.js";
import { VirtualClock } from "../../src/testing/index.js";
import { plans } from "./arbitrary.js";

/**
 * A live deadline makes no state of progress that nobody is told of. Whoever looks, and whenever, must not be able to
 * tell: what is compared here decided every report by `apply`, which always makes one.
 */
type Report = Parameters<PhasedDeadline["progress"]>[0];

const START = 1_000_000;
const SECOND = 1000;
const names = Object.freeze(["progress", "phase", "renewed", "expired", "settled", "change"] as const);

const report: fc.Arbitrary<Report> = fc.record(
  {
    phase: fc.constantFrom("phase-0", "phase-1", "nowhere"),
    step: fc.constantFrom("s0", "s1", "s2", ""),
    part: fc.constantFrom("p0", "p1"),
    position: fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 12 }) },
      fc.constantFrom(-1, -0, 0.5, Number.NaN, Number.POSITIVE_INFINITY),
    ),
    run: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.constantFrom(-0, 1, 2)),
  },
  { requiredKeys: [] },
);
/** Mostly the same step again and again, as a download reports. */
const usual: fc.Arbitrary<Report> = fc.record({
  step: fc.constant("s0"),
  position: fc.integer({ min: 0, max: 40 }),
});

type Move =
  | { readonly what: "progress"; readonly report: Report }
  | { readonly what: "wait" | "step" | "suspend"; readonly ms: number }
  | { readonly what: "pause" | "resume" | "look" | "enter" | "complete" | "dispose" }
  | { readonly what: "on" | "off"; readonly name: (typeof names)[number] };

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ what: fc.constant("progress" as const), report: fc.oneof(usual, report) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant("wait" as const),
      ms: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 400 })),
    }),
  },
  fc.record({
    what: fc.constantFrom("step" as const, "suspend" as const),
    ms: fc.integer({ min: 1, max: 5 }).map((hours) => hours * 3_600_000),
  }),
  fc.record({
    what: fc.constantFrom("pause" as const, "resume" as const, "look" as const, "enter" as const),
  }),
  { weight: 1, arbitrary: fc.constant({ what: "complete" as const }) },
  { weight: 1, arbitrary: fc.constant({ what: "dispose" as const }) },
  fc.record({ what: fc.constantFrom("on" as const, "off" as const), name: fc.constantFrom(...names) }),
);

/** What a call gave: its outcome, or the error that it threw. */
function attempt(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return String(error);
  }
}

/** A live deadline on a clock of its own, with all that it told. */
function live(plan: PlanDefinition, progressEveryMs: number) {
  const clock = new VirtualClock({ startAt: START });
  const told: unknown[] = [];
  const deadline = PhasedDeadline.start(plan, { attempt: "a1", clock, progressEveryMs });
  const listeners = Object.fromEntries(
    names.map((name) => [
      name,
      (payload: DeadlineEvents[typeof name]) => told.push([clock.now(), name, payload]),
    ]),
  );
  return {
    clock,
    told,
    deadline,
    phase: "phase-0",
    listener: (name: string) => listeners[name] as unknown as () => void,
  };
}

type Live = ReturnType<typeof live>;

/** As `progress` says that it is: the event with the present phase and the deadline's own token. */
function byApply({ deadline, phase }: Live, given: Report): unknown {
  return deadline.apply({ ...given, type: "progress", attempt: "a1", phase: given.phase ?? phase });
}

function play(one: Move, on: Live, progress: typeof byApply): unknown {
  const { clock, deadline, listener } = on;
  switch (one.what) {
    case "progress":
      return attempt(() => progress(on, one.report));
    case "wait": {
      clock.advance(one.ms);
      return;
    }
    case "step": {
      clock.stepWall(one.ms % 2 === 0 ? one.ms : -one.ms);
      return;
    }
    case "suspend": {
      clock.suspend(one.ms);
      return;
    }
    case "pause":
      return deadline.pause();
    case "resume":
      return deadline.resume();
    case "look":
      return [deadline.state, deadline.remainingMs(), deadline.signal.aborted];
    case "enter": {
      const outcome = deadline.enter("phase-1");
      // Known without a look at the state, which would find an expiry.
      if (outcome.applied) on.phase = "phase-1";
      return outcome;
    }
    case "complete":
      return deadline.complete();
    case "dispose": {
      deadline[Symbol.dispose]();
      return;
    }
    case "on":
      return void deadline.on(one.name, listener(one.name));
    case "off":
      return void deadline.off(one.name, listener(one.name));
  }
}

describe("progress that nobody is told of", () => {
  it("is answered, announced and stored as if each report had made a state", () => {
    fc.assert(
      fc.property(
        plans,
        fc.array(move, { maxLength: 80 }),
        fc.constantFrom(0, 20, SECOND),
        (plan, moves, every) => {
          const quick = live(plan, every);
          const plain = live(plan, every);
          for (const one of moves) {
            const mine = play(one, quick, ({ deadline }, given) => deadline.progress(given));
            expect(mine).toEqual(play(one, plain, byApply));
            expect(quick.told).toEqual(plain.told);
          }
          expect(quick.deadline.state).toEqual(plain.deadline.state);
          quick.clock.advance(5 * SECOND);
          plain.clock.advance(5 * SECOND);
          expect(quick.told).toEqual(plain.told);
          expect(quick.deadline.state).toEqual(plain.deadline.state);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("gives the answers and the state of the pure function, looked at only at the end", () => {
    fc.assert(
      fc.property(plans, fc.array(fc.tuple(usual, fc.integer({ min: 0, max: 40 }))), (plan, reports) => {
        const { clock, deadline } = live(plan, SECOND);
        let pure = startAttempt(plan, { attempt: "a1", now: START }).state as DeadlineState;
        for (const [given, waitMs] of reports) {
          clock.advance(waitMs);
          const event = { ...given, type: "progress", attempt: "a1", phase: "phase-0" } as const;
          const due = applyDeadlineEvent(pure, { type: "tick" }, clock.now()).state;
          // An alarm found it meanwhile, at its instant.
          if (due.expiry !== null && pure.status === "active")
            pure = applyDeadlineEvent(pure, { type: "tick" }, due.expiry.at).state;
          const step = applyDeadlineEvent(pure, event, clock.now());
          pure = step.state;
          expect(deadline.progress(given)).toEqual(step.outcome);
        }
        expect(deadline.state).toEqual(pure);
      }),
      { numRuns: 300 },
    );
  });

  it("is let out in time to who listens from now on", () => {
    const { clock, told, deadline, listener } = live({ phases: [{ name: "phase-0" }] }, SECOND);
    deadline.progress({ position: 1 });
    clock.advance(500);
    deadline.on("change", listener("change"));
    deadline.progress({ position: 2 });
    deadline.progress({ position: 3 });
    clock.advance(499);
    expect(told).toEqual([]);
    clock.advance(1);
    expect(told).toMatchObject([[START + SECOND, "change", { version: 4, marks: [{ position: 3 }] }]]);
    clock.advance(60 * SECOND);
    expect([told.length, clock.timers]).toEqual([1, 0]);
  });

  it("is let out also when a listener reported it while others were told", () => {
    const { clock, told, deadline, listener } = live(
      { phases: [{ name: "phase-0" }, { name: "phase-1" }] },
      SECOND,
    );
    deadline.on("change", listener("change"));
    deadline.on("phase", () => deadline.progress({ position: 1 }));
    deadline.progress({ position: 1 });
    clock.advance(100);
    deadline.enter("phase-1");
    clock.advance(60 * SECOND);
    expect(told).toMatchObject([
      [START, "change", { version: 2 }],
      [START + 100, "change", { version: 3, phase: "phase-1", marks: [] }],
      [START + 100 + SECOND, "change", { version: 4, marks: [{ position: 1 }] }],
    ]);
  });

  it("begins no more steps than a phase may have", () => {
    const { deadline } = live({ phases: [{ name: "phase-0" }] }, SECOND);
    const why = Array.from({ length: 66 }, (_, step) => deadline.progress({ step: `s${step}` })).map(
      (outcome) => (outcome.applied ? "" : outcome.why),
    );
    expect(why).toEqual([...Array.from({ length: 64 }, () => ""), "too-many-steps", "too-many-steps"]);
    expect(deadline.state.marks).toHaveLength(64);
  });

  it("counts from the latest instant that is known, under a clock that was set back", () => {
    const { deadline } = live({ phases: [{ name: "phase-0", stallMs: 100 }] }, SECOND);
    const behind = new VirtualClock({ startAt: START - 50 });
    const restored = PhasedDeadline.restore(deadline.state, { clock: behind, rebase: false });
    restored.progress({ position: 1 });
    expect(restored.state).toMatchObject({ observedAt: START, stallEndsAt: START + 100 });
  });

  it("stores no zero that JSON cannot carry", () => {
    const plan = { phases: [{ name: "phase-0" }], ceilingMs: 1000 };
    const options = { attempt: "a1", clock: new VirtualClock(), configuration: { generation: -0 } };
    const deadline = PhasedDeadline.start(plan, options);
    deadline.progress({ position: -0, run: -0 });
    deadline.pause(-0);
    expect(JSON.parse(JSON.stringify(deadline.state))).toEqual(deadline.state);
    deadline.change({ generation: 1 });
    expect(JSON.parse(JSON.stringify(deadline.state))).toEqual(deadline.state);
  });

  it("expires at its instant though no timer has fired, also when the report is a duplicate", () => {
    for (const position of [1, 2]) {
      const { clock, deadline } = live({ phases: [{ name: "phase-0", budgetMs: 3_600_000 }] }, SECOND);
      deadline.progress({ step: "s0", position: 1 });
      expect(deadline.progress({ step: "s0", position: 1 })).toMatchObject({ why: "duplicate" });
      clock.suspend(3_600_000);
      expect(deadline.progress({ step: "s0", position })).toEqual({
        applied: false,
        why: "expired",
        changed: true,
      });
      expect(deadline.state).toMatchObject({ status: "expired", version: 3, observedAt: START + 3_600_000 });
    }
  });

  it("allocates no state for a thousand reports, and one for whoever looks", () => {
    const { deadline } = live({ phases: [{ name: "phase-0", stallMs: 1000 }] }, SECOND);
    for (let position = 1; position <= 1000; position += 1) deadline.progress({ position });
    const { state } = deadline;
    expect(state.version).toBe(1001);
    expect(deadline.state).toBe(state);
    expect(deadline.progress({ position: 1000 })).toBe(deadline.progress({ position: 999 }));
    expect(deadline.state).toBe(state);
  });
});
