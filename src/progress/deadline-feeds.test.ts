import { describe, expect, it } from "vitest";
import { IMAGE, steps, tracked } from "../../test/progress/tracked.js";
import { definePlan, PhasedDeadline, type CommitResult, type DeadlineOutcome } from "../deadline/index.js";
import { VirtualClock } from "../testing/index.js";
import { countBytes } from "./count-bytes.js";
import { StepTracker } from "./step-tracker.js";

describe("a fed deadline", () => {
  const plan = definePlan({ phases: [{ name: "preparation", budgetMs: 900_000, stallMs: 120_000 }] });

  it("gets what moved, with the position of the whole step, and agrees on what is progress", () => {
    const { clock, tracker } = tracked();
    const deadline = PhasedDeadline.start(plan, { attempt: "a1", clock });
    const outcomes: DeadlineOutcome[] = [];
    const feed = tracker.feed(deadline, {
      phase: "preparation",
      onOutcome: (outcome) => outcomes.push(outcome),
    });
    tracker.report("export", IMAGE, 10, 100, { part: "a" });
    tracker.report("export", IMAGE, 5, 100, { part: "b" });
    tracker.report("export", IMAGE, 5, 200, { part: "b" });
    tracker.report("export", IMAGE, 1, 100, { part: "b" });
    tracker.report("export", IMAGE, 3, undefined, { part: "a", unit: "s" });
    tracker.finish("disk", IMAGE);
    expect(deadline.state.marks).toEqual([
      { step: "export", part: null, position: 15 },
      { step: "export", part: "s", position: 3 },
      { step: "disk", part: null, position: 0 },
    ]);
    expect(outcomes.every(({ applied }) => applied)).toBe(true);
    feed[Symbol.dispose]();
    tracker.report("export", IMAGE, 1000);
    expect(deadline.state.marks[0]?.position).toBe(15);
  });

  it("stalls when nothing moves, whatever is repeated, and says how far the step had come", () => {
    const { clock, tracker } = tracked();
    const deadline = PhasedDeadline.start(plan, { attempt: "a1", clock });
    tracker.feed(deadline, { phase: "preparation" });
    tracker.report("export", IMAGE, 1_400_000_000);
    for (let second = 0; second < 120; second += 1) {
      clock.advance(1000);
      tracker.report("export", IMAGE, 1_400_000_000);
      tracker.report("export", "bootstrap:1", second);
    }
    expect(deadline.state.expiry).toMatchObject({ limitedBy: "stall" });
    expect(deadline.state.expiry?.message).toContain("last progress in export at 1400000000");
    expect(tracker.report("export", IMAGE, 1_500_000_000)).toMatchObject({ applied: true });
  });

  it("gets a new run as a new run", () => {
    const { clock, tracker } = tracked();
    const deadline = PhasedDeadline.start(plan, { attempt: "a1", clock });
    tracker.feed(deadline, { phase: (step) => (step === "export" ? "preparation" : "elsewhere") });
    tracker.report("export", IMAGE, 4_000_000_000, undefined, { run: 1 });
    tracker.report("export", IMAGE, 1000, undefined, { run: 2 });
    tracker.report("disk", IMAGE, 1);
    expect(deadline.state).toMatchObject({ run: 2, marks: [{ step: "export", position: 1000 }] });
  });

  it("takes a thousand parts and 64 steps without reaching its limits", () => {
    const clock = new VirtualClock();
    const many = Array.from({ length: 64 }, (_, index) => ({ ...steps[0]!, step: `step ${index}` }));
    const tracker = new StepTracker(many, { clock });
    const deadline = PhasedDeadline.start(plan, { attempt: "a1", clock });
    const refused: DeadlineOutcome[] = [];
    tracker.feed(deadline, {
      phase: "preparation",
      onOutcome: (outcome) => {
        if (!outcome.applied) refused.push(outcome);
      },
    });
    for (let part = 0; part < 1000; part += 1)
      tracker.report("step 0", IMAGE, 1, undefined, { part: `${part}` });
    for (const { step } of many) {
      tracker.report(step, IMAGE, 1);
      for (let unit = 0; unit < 8; unit += 1)
        tracker.report(step, IMAGE, 1, undefined, { unit: `unit ${unit}` });
    }
    expect(refused).toEqual([]);
    expect(deadline.state.marks).toHaveLength(64 * 9);
  });

  it("has to be one, and its phase has to be named", () => {
    const { tracker } = tracked();
    const anything = (value: unknown): never => value as never;
    expect(() => tracker.feed(anything(null), { phase: "preparation" })).toThrow("deadline must be");
    expect(() => tracker.feed(anything({ progress: () => null }), anything({}))).toThrow("phase must be");
  });

  it("may have a store, and may fail, without disturbing the work", async () => {
    const errors: unknown[] = [];
    const { clock, tracker } = tracked({ onError: (error) => errors.push(error) });
    const outcomes: DeadlineOutcome[] = [];
    const committed = (): CommitResult => ({ committed: true });
    const deadline = PhasedDeadline.start(plan, { attempt: "a1", clock, commit: committed });
    tracker.feed(deadline, { phase: "preparation", onOutcome: (outcome) => outcomes.push(outcome) });
    tracker.feed({ progress: () => Promise.reject(new Error("no store")) }, { phase: "preparation" });
    tracker.feed(
      {
        progress: () => {
          throw new Error("no deadline");
        },
      },
      { phase: "preparation" },
    );
    expect(tracker.report("export", IMAGE, 1)).toMatchObject({ applied: true });
    await clock.advanceAsync(0);
    expect(outcomes).toEqual([{ applied: true, changed: true }]);
    expect(errors.map(String)).toEqual(["Error: no deadline", "Error: no store"]);
  });

  it("tells of what a feed's onOutcome throws or rejects with, and of `onBytes` as well", async () => {
    const errors: unknown[] = [];
    const onError = (error: unknown): unknown => errors.push(error);
    const { clock, tracker } = tracked({ onError });
    const deadline = PhasedDeadline.start(plan, { attempt: "a1", clock });
    const failing = (text: string) => (): unknown => Promise.reject(new Error(text));
    tracker.feed(deadline, { phase: "preparation", onOutcome: failing("an outcome") });
    tracker.report("export", IMAGE, 1);
    const { stream } = countBytes(new Response("data").body as ReadableStream<Uint8Array>, {
      onBytes: failing("bytes"),
      onError,
    });
    await new Response(stream).text();
    expect(errors.map(String).sort()).toEqual(["Error: an outcome", "Error: bytes"]);
  });
});
