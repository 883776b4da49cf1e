import { describe, expect, it } from "vitest";
import { IMAGE, steps, tracked } from "../../test/progress/tracked.js";
import type { TrackerState } from "./state.js";
import type { StepReading } from "./step-reading.js";
import { StepTracker } from "./step-tracker.js";

describe("StepTracker", () => {
  it("answers with the outcome and reads what became of the steps", () => {
    const { clock, tracker } = tracked();
    expect(tracker.report("export", IMAGE, 5, 10)).toMatchObject({ applied: true, started: true });
    clock.advance(1000);
    expect(tracker.read("export")).toMatchObject({ position: 5, percent: 50, elapsedMs: 1000 });
    expect(tracker.read("nothing")).toBe(undefined);
    expect(tracker.finish("export", IMAGE)).toMatchObject({ completed: ["export"] });
    expect(tracker.start("disk", IMAGE)).toMatchObject({ started: true });
    expect(tracker.readings().map(({ status }) => status)).toEqual(["finished", "running"]);
  });

  it("refuses a malformed option", () => {
    expect(() => new StepTracker(steps, { changeEveryMs: -1 })).toThrow("changeEveryMs must be");
    expect(() => new StepTracker([])).toThrow("1 to 64");
  });

  it("announces each beginning and each completion once, at once, also of implied ones", () => {
    const { clock, tracker } = tracked();
    const heard: string[] = [];
    const note =
      (what: string) =>
      ({ step, elapsedMs, position }: StepReading) =>
        heard.push(`${what} ${step} ${position ?? "-"} ${elapsedMs}`);
    tracker.on("started", note("started")).on("finished", note("finished"));
    tracker.report("export", IMAGE, 5);
    clock.advance(500);
    tracker.start("disk", IMAGE);
    tracker.report("export", IMAGE, 6);
    tracker.finish("export", IMAGE);
    tracker.finish("disk", IMAGE);
    tracker.start("disk", IMAGE);
    tracker.finish("disk", IMAGE);
    expect(heard).toEqual([
      "started export 5 0",
      "started disk - 0",
      "finished export 5 500",
      "finished disk - 0",
    ]);
  });

  it("tells a change at most once an interval, and the last one always", () => {
    const { clock, tracker } = tracked({ changeEveryMs: 100 });
    const told: TrackerState[] = [];
    tracker.on("change", (state) => told.push(state));
    tracker.report("export", IMAGE, 1);
    tracker.report("export", IMAGE, 2);
    tracker.report("export", IMAGE, 3);
    expect(told.map(({ version }) => version)).toEqual([2]);
    clock.advance(99);
    expect(told).toHaveLength(1);
    clock.advance(1);
    expect(told.at(-1)).toBe(tracker.state);
    clock.advance(10_000);
    expect(told).toHaveLength(2);
    tracker.report("export", IMAGE, 4);
    tracker.report("export", IMAGE, 5);
    tracker.flush();
    expect(told.at(-1)).toBe(tracker.state);
    clock.advance(1000);
    expect(told).toHaveLength(4);
  });

  it("tells nothing of what was refused, and leaves no timer", () => {
    const { clock, tracker } = tracked();
    let told = 0;
    tracker.on("change", () => (told += 1));
    tracker.report("export", "bootstrap:1", 1);
    tracker.report("export", IMAGE, Number.NaN);
    clock.advance(1000);
    expect(told).toBe(0);
    tracker.report("export", IMAGE, 1);
    tracker.report("export", IMAGE, 2);
    tracker[Symbol.dispose]();
    tracker[Symbol.dispose]();
    expect(told).toBe(2);
    tracker.report("export", IMAGE, 3);
    expect(tracker.read("export")?.position).toBe(3);
    clock.advance(1000);
    expect(told).toBe(2);
  });

  it("tells of one event after the other, also when a listener causes the next", () => {
    const { tracker } = tracked({ changeEveryMs: 0 });
    const heard: string[] = [];
    tracker.once("started", () => void tracker.finish("export", IMAGE));
    tracker.on("started", ({ step }) => heard.push(`started ${step}`));
    tracker.on("finished", ({ step }) => heard.push(`finished ${step}`));
    tracker.report("export", IMAGE, 1);
    expect(heard).toEqual(["started export", "finished export"]);
  });

  it("survives listeners that throw, and forgets those that are taken off", () => {
    const errors: unknown[] = [];
    const { tracker } = tracked({ onError: (error) => errors.push(error) });
    let heard = 0;
    const count = (): void => void (heard += 1);
    tracker.on("change", () => {
      throw new Error("listener");
    });
    tracker.on("change", count).on("started", count).off("started", count);
    tracker.report("export", IMAGE, 1);
    expect(heard).toBe(1);
    expect(errors.map(String)).toEqual(["Error: listener"]);
  });

  it("goes on after a restart with bytes, times and announcements where they were", () => {
    const { clock, tracker } = tracked();
    tracker.report("export", IMAGE, 400, 1000);
    tracker.finish("disk", IMAGE);
    clock.advance(5000);
    tracker.report("export", IMAGE, 500);
    const stored = JSON.parse(JSON.stringify(tracker.state)) as TrackerState;
    clock.restart(10_000);
    const restored = StepTracker.restore(stored, { clock });
    expect(restored.state).toEqual(stored);
    const heard: string[] = [];
    restored.on("started", ({ step }) => heard.push(step)).on("finished", ({ step }) => heard.push(step));
    expect(restored.report("export", IMAGE, 400)).toMatchObject({ why: "duplicate" });
    expect(restored.read("export")).toMatchObject({ position: 500, percent: 50, elapsedMs: 15_000 });
    restored.start("disk", IMAGE);
    restored.finish("disk", IMAGE);
    expect(heard).toEqual([]);
  });

  it("keeps the time a step had taken when the clock was set back meanwhile", () => {
    const { clock, tracker } = tracked();
    tracker.start("export", IMAGE);
    clock.advance(60_000);
    tracker.report("export", IMAGE, 1);
    clock.stepWall(-3_600_000);
    clock.restart();
    const rebased = StepTracker.restore(tracker.state, { clock });
    clock.advance(1000);
    expect(rebased.read("export")?.elapsedMs).toBe(61_000);
    const clamped = StepTracker.restore(tracker.state, { clock, rebase: false });
    expect(clamped.read("export")?.elapsedMs).toBe(60_000);
  });
});

describe("a percentage of parts", () => {
  const of = (part: string) => ({ part });

  it("that was read is not taken back when another part appears: none is shown until it is reached again", () => {
    const { tracker } = tracked();
    tracker.report("export", IMAGE, 90, 100, of("a"));
    expect(tracker.read("export")?.percent).toBe(90);
    tracker.report("export", IMAGE, 1, 900, of("b"));
    expect(tracker.readings()[0]).toMatchObject({ percent: null, position: 91, total: 1000 });
    tracker.report("export", IMAGE, 810, 900, of("b"));
    expect(tracker.read("export")?.percent).toBe(90);
    tracker.report("export", IMAGE, 10, 100, { part: "a", run: 1 });
    expect(tracker.read("export")?.percent).toBe(10);
  });

  it("that nobody read is no promise, nor is one of parts that are all complete, nor one of the step's own total", () => {
    const { tracker } = tracked();
    tracker.report("export", IMAGE, 50, 100, of("a"));
    tracker.report("export", IMAGE, 0, 100, of("b"));
    expect(tracker.read("export")?.percent).toBe(25);
    tracker.report("export", IMAGE, 100, 100, of("a"));
    tracker.report("export", IMAGE, 100, 100, of("b"));
    expect(tracker.read("export")?.percent).toBe(99);
    tracker.report("export", IMAGE, 0, 200, of("c"));
    expect(tracker.read("export")?.percent).toBe(50);
    tracker.report("disk", IMAGE, 50, 100);
    expect(tracker.read("disk")?.percent).toBe(50);
    tracker.report("disk", IMAGE, 60, 600);
    expect(tracker.read("disk")?.percent).toBe(10);
  });
});
