import { describe, expect, it } from "vitest";
import { applyDeadlineEvent, definePlan, readDeadline, startAttempt } from "../../src/deadline/index.js";
import {
  deadlineProgress,
  openShellStepEvents,
  openShellSteps,
  StepTracker,
  type OpenShellEvent,
} from "../../src/progress/index.js";
import { VirtualClock } from "../../src/testing/index.js";
import vectors from "../fixtures/vectors/lifecycle.json" with { type: "json" };

const IMAGE = "local-big:1";
const TOTAL = 8_089_725_051;

function single(total?: number): { clock: VirtualClock; tracker: StepTracker } {
  const clock = new VirtualClock();
  const step = { step: "image", label: "Image exported from local Docker", subject: IMAGE, total };
  return { clock, tracker: new StepTracker([step], { clock }) };
}

/** The rows of scenarios.md, section P. Ids that the file does not have are kinds of the same section. */
describe("scenarios P", () => {
  it("P-01: the bootstrap image completes nothing, and every step has its own time", () => {
    const clock = new VirtualClock();
    const of = (step: string, label: string, subject = IMAGE) => ({ step, label, subject });
    const tracker = new StepTracker(
      [
        of("bootstrap", "Bootstrap image pulled", "bootstrap:1"),
        of("export", "Image exported from local Docker"),
        of("format", "Root disk formatted"),
        of("rootfs", "Root disk prepared"),
        of("overlay", "Overlay disk prepared"),
        of("supervisor", "Supervisor reached"),
      ],
      { clock },
    );
    const finished: string[] = [];
    tracker.on("finished", ({ step }) => finished.push(step));
    const at = (seconds: number): void =>
      clock.advance(seconds * 1000 - (clock.now() - tracker.state.startedAt));
    at(0.6);
    tracker.report("bootstrap", "bootstrap:1", 512_000_000, 512_000_000);
    tracker.finish("bootstrap", "bootstrap:1");
    tracker.start("export", IMAGE);
    expect(tracker.finish("export", "bootstrap:1")).toMatchObject({ why: "other-subject" });
    expect(tracker.report("export", "bootstrap:1", 512_000_000)).toMatchObject({ why: "other-subject" });
    expect(tracker.read("export")).toMatchObject({ status: "running", subject: IMAGE, position: null });
    at(90.8);
    tracker.start("format", IMAGE);
    expect(tracker.read("export")).toMatchObject({ finished: true, elapsedMs: 90_200 });
    at(165.8);
    tracker.start("rootfs", IMAGE);
    expect(tracker.read("format")).toMatchObject({ finished: true, elapsedMs: 75_000 });
    at(226.9);
    expect(finished).toEqual(["bootstrap", "export", "format"]);
    at(227);
    tracker.start("overlay", IMAGE);
    expect(finished.at(-1)).toBe("rootfs");
    at(227.1);
    tracker.start("supervisor", IMAGE);
    expect(tracker.read("overlay")).toMatchObject({ finished: true, elapsedMs: 100 });
  });

  it("without a total: bytes and elapsed time, no percentage", () => {
    const { clock, tracker } = single();
    tracker.report("image", IMAGE, 1_400_000_000);
    clock.advance(5000);
    expect(tracker.read("image")).toMatchObject({ position: 1_400_000_000, percent: null, elapsedMs: 5000 });
  });

  it("P-03: an estimate that is too low cuts no bytes and never shows 100", () => {
    const { tracker } = single(TOTAL);
    for (let position = 0; position <= 8_300_000_000; position += 100_000_000) {
      tracker.report("image", IMAGE, position);
      expect(tracker.read("image")?.percent).toBeLessThanOrEqual(99);
    }
    expect(tracker.read("image")).toMatchObject({ percent: 99, position: 8_300_000_000, finished: false });
    tracker.finish("image", IMAGE);
    expect(tracker.read("image")).toMatchObject({ percent: 100, position: 8_300_000_000, finished: true });
  });

  it("layers whose totals arrive one by one: a percentage that was shown does not fall", () => {
    const { tracker } = single();
    tracker.report("image", IMAGE, 90, 100, { part: "a" });
    const shown = [tracker.read("image")?.percent];
    for (let position = 0; position <= 900; position += 90) {
      tracker.report("image", IMAGE, position, 900, { part: "b" });
      shown.push(tracker.read("image")?.percent);
    }
    const percents = shown.filter((percent) => percent !== null);
    expect(percents).toEqual([90, 90, 99]);
  });

  it("P-05: a layer that already exists adds 0 of 0 and moves no percentage", () => {
    const { tracker } = single();
    tracker.report("image", IMAGE, 40, 100, { part: "a" });
    const before = tracker.read("image");
    expect(tracker.report("image", IMAGE, 0, 0, { part: "b" })).toMatchObject({ applied: true, sign: null });
    expect(tracker.read("image")).toEqual(before);
  });

  it("extraction in seconds counts no bytes, and a retried layer that goes back takes none away", () => {
    const { tracker } = single();
    tracker.report("image", IMAGE, 100, 100, { part: "a" });
    tracker.report("image", IMAGE, 3, undefined, { part: "a", unit: "s" });
    tracker.report("image", IMAGE, 60, 100, { part: "b" });
    expect(tracker.report("image", IMAGE, 0, 100, { part: "b" })).toMatchObject({ why: "duplicate" });
    expect(tracker.read("image")).toMatchObject({ position: 160, total: 200, percent: 80 });
  });

  it("P-09: a step that completes, starts again and completes is one entry, announced once", () => {
    const { clock, tracker } = single();
    const finished: string[] = [];
    tracker.on("finished", ({ step }) => finished.push(step));
    tracker.report("image", IMAGE, 10);
    tracker.finish("image", IMAGE);
    tracker.start("image", IMAGE);
    expect(tracker.read("image")?.finished).toBe(false);
    clock.advance(1000);
    tracker.report("image", IMAGE, 20, undefined, { part: "late row" });
    tracker.finish("image", IMAGE);
    expect(finished).toEqual(["image"]);
    expect(tracker.readings()).toHaveLength(1);
    expect(tracker.read("image")).toMatchObject({ finished: true, position: 30, elapsedMs: 1000 });
  });

  it("P-09: rows after the end, without a start, reopen it only where they bring more", () => {
    const { tracker } = single();
    tracker.report("image", IMAGE, 10);
    tracker.finish("image", IMAGE);
    tracker.report("image", IMAGE, 10);
    expect(tracker.read("image")?.finished).toBe(true);
    tracker.report("image", IMAGE, 11);
    expect(tracker.read("image")?.finished).toBe(false);
    expect(tracker.finish("image", IMAGE)).toMatchObject({ applied: true, completed: [] });
  });

  it("P-12: 60 000 events in 60 s give at most five changes a second, and the last is among them", () => {
    const { clock, tracker } = single();
    const at: number[] = [];
    let last = 0;
    tracker.on("change", ({ version }) => {
      at.push(clock.now());
      last = version;
    });
    for (let event = 1; event <= 60_000; event += 1) {
      tracker.report("image", IMAGE, event * 1000);
      clock.advance(1);
    }
    clock.advance(200);
    expect(at.length).toBeLessThanOrEqual(301);
    expect(at.length).toBeGreaterThan(290);
    for (const [index, instant] of at.entries())
      if (index > 0) expect(instant - at[index - 1]!).toBeGreaterThanOrEqual(200);
    expect(last).toBe(tracker.state.version);
  });

  it("P-12: a burst of starts and ends is held to the same rate", () => {
    const { clock, tracker } = single();
    let changes = 0;
    tracker.on("change", () => (changes += 1));
    for (let event = 0; event < 10_000; event += 1) {
      tracker.start("image", IMAGE);
      tracker.finish("image", IMAGE);
    }
    clock.advance(1000);
    expect(changes).toBe(2);
  });
});

interface ProgressVector {
  readonly id: string;
  readonly input: {
    readonly op: string;
    readonly requestedImage: string;
    readonly events: readonly { reason: string; image_ref?: string; bytesDone?: number }[];
  };
  readonly expect: Record<string, unknown>;
}

const progressVectors = (vectors as unknown as ProgressVector[]).filter(
  ({ input }) => input.op === "progress",
);

describe("lifecycle vectors of progress", () => {
  it("are there", () => {
    expect(progressVectors.length).toBeGreaterThan(2);
  });

  it.each(progressVectors.map((vector) => [vector.id, vector] as const))("%s", (_id, vector) => {
    const { requestedImage, events } = vector.input;
    const request = { image: requestedImage, sandbox: "dev" };
    const clock = new VirtualClock();
    const tracker = new StepTracker(openShellSteps(request), { clock });
    const plan = definePlan({ phases: [{ name: "preparation", budgetMs: 900_000 }] });
    let deadline = startAttempt(plan, { attempt: "a1", now: clock.now() }).state!;
    const before = readDeadline(deadline, clock.now()).deadlineAt;
    let completedBy: string | undefined;
    let run = 1;
    let accepted = false;
    for (const event of events) {
      clock.advance(1000);
      // The driver begins its work again: the gateway mints the next run for it.
      if (event.reason === "Restoring") run += 1;
      const outcomes = stepEventsOf(event, request).map((step) => tracker.apply({ ...step, run }));
      for (const outcome of outcomes) {
        const progress = deadlineProgress(outcome, { attempt: "a1", phase: "preparation" });
        if (progress !== null) deadline = applyDeadlineEvent(deadline, progress, clock.now()).state;
        if (outcome.applied && outcome.completed.includes("pulling_image")) completedBy = event.reason;
      }
      accepted = outcomes.some(({ applied }) => applied);
    }
    const actual: Record<string, unknown> = {
      stepCompleted: tracker.read("pulling_image")?.finished,
      completedBy,
      imageNamed: tracker.read("pulling_image")?.subject,
      accepted,
      deadlineExtended: readDeadline(deadline, clock.now()).deadlineAt !== before,
    };
    for (const [field, value] of Object.entries(vector.expect))
      expect([field, actual[field]]).toEqual([field, value]);
  });
});

/** The vectors add a byte count, which OpenShell's events do not carry: it is reported as the gateway would. */
function stepEventsOf(
  { reason, image_ref, bytesDone }: ProgressVector["input"]["events"][number],
  request: { image: string; sandbox: string },
) {
  const event: OpenShellEvent = { reason, metadata: image_ref === undefined ? {} : { image_ref } };
  const events = openShellStepEvents(event, request);
  if (bytesDone === undefined || image_ref === undefined) return events;
  return [
    ...events,
    { type: "report", step: "pulling_image", subject: image_ref, position: bytesDone } as const,
  ];
}
