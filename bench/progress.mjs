/**
 * What following progress costs, against the least that could be written by hand: one record changed in place, no
 * subject checked but the step's, no state to keep, no totals of parts, no time.
 *
 *   npm run build && node bench/progress.mjs [--json]
 */
import { definePlan, PhasedDeadline } from "slipway/deadline";
import { applyStepEvent, startTracking, StepTracker } from "slipway/progress";
import { VirtualClock } from "slipway/testing";
import { interleave, perOperation, publish } from "./harness.mjs";

const EVENTS = 30_000;
const ROUNDS = 7;
const LAYERS = 20;
const IMAGE = "local-big:1";
const TOTAL = EVENTS * 1000;
const steps = [
  { step: "export", label: "Image exported", subject: IMAGE, total: TOTAL },
  { step: "disk", label: "Root disk prepared", subject: IMAGE },
];
const parts = Array.from({ length: LAYERS }, (_, index) => ({ part: `layer ${index}` }));

/** The least that keeps a step's bytes from falling and from being another image's. */
class ByHand {
  steps = new Map([["export", { subject: IMAGE, position: 0, total: TOTAL }]]);
  report(name, subject, position) {
    const step = this.steps.get(name);
    if (step === undefined || step.subject !== subject) return false;
    if (!(position > step.position)) return false;
    step.position = position;
    return true;
  }
}

const perEvent = (work) => perOperation(EVENTS, work);

function expect(holds, what) {
  if (!holds) throw new Error(what);
}

const contenders = {
  "by hand, in place": () => {
    const tracker = new ByHand();
    const ns = perEvent(() => {
      for (let i = 1; i <= EVENTS; i += 1) tracker.report("export", IMAGE, i * 1000);
    });
    expect(tracker.steps.get("export").position === TOTAL, "bytes were lost");
    return ns;
  },
  applyStepEvent: () => {
    let state = startTracking(steps, 0);
    const ns = perEvent(() => {
      for (let i = 1; i <= EVENTS; i += 1) {
        const event = { type: "report", step: "export", subject: IMAGE, position: i * 1000 };
        state = applyStepEvent(state, event, i).state;
      }
    });
    expect(state.steps[0].marks[0].position === TOTAL, "bytes were lost");
    return ns;
  },
  "StepTracker, nobody listens": () => live(() => undefined),
  "StepTracker, a listener": () => live((tracker) => tracker.on("change", () => undefined)),
  "StepTracker, feeding a deadline": () =>
    live((tracker, clock) => {
      const plan = definePlan({ phases: [{ name: "preparation", budgetMs: 3_600_000, stallMs: 120_000 }] });
      tracker.feed(PhasedDeadline.start(plan, { attempt: "a1", clock }), { phase: "preparation" });
    }),
  [`StepTracker, ${LAYERS} layers`]: () =>
    live(
      () => undefined,
      (tracker, i) => tracker.report("export", IMAGE, i * 1000, undefined, parts[i % LAYERS]),
    ),
  "StepTracker, duplicates": () => {
    const tracker = new StepTracker(steps, { clock: new VirtualClock() });
    tracker.report("export", IMAGE, TOTAL);
    return perEvent(() => {
      for (let i = 1; i <= EVENTS; i += 1) tracker.report("export", IMAGE, TOTAL);
    });
  },
};

function live(prepare, report = (tracker, i) => tracker.report("export", IMAGE, i * 1000)) {
  const clock = new VirtualClock();
  const tracker = new StepTracker(steps, { clock });
  prepare(tracker, clock);
  const ns = perEvent(() => {
    for (let i = 1; i <= EVENTS; i += 1) report(tracker, i);
  });
  tracker[Symbol.dispose]();
  expect(tracker.read("export").position >= TOTAL, "bytes were lost");
  return ns;
}

const ns = await interleave(contenders, { rounds: ROUNDS });

const clock = new VirtualClock();
const tracker = new StepTracker(steps, { clock });
let changes = 0;
tracker.on("change", () => (changes += 1));
for (let i = 1; i <= EVENTS; i += 1) {
  tracker.report("export", IMAGE, i * 1000);
  clock.advance(1);
}
clock.advance(200);

const { "by hand, in place": byHand, ...ours } = ns;
publish({
  title: "Progress of steps",
  figures: Object.entries(ours).map(([name, value]) => ({
    id: `progress ${name}`,
    figure: `a report, ${name}`,
    unit: "ns",
    values: { slipway: value, "by hand": byHand },
  })),
  notes: [`${EVENTS} reports in ${EVENTS / 1000} s: ${changes} changes told.`],
});
