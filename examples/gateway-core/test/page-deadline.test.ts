import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deadlineSummary, timeLeft } from "../src/page/deadline-bars.js";
import { BUDGETS } from "./bench.js";
import { afterEvents, viewAt } from "./page-views.js";
import { NOW, recordWith } from "./records.js";
import { imageReport, recordAfter } from "./step-reports.js";

/** The attempts of these records began a minute before NOW. */
const START = NOW - 60_000;
const inAdmission = afterEvents(recordWith(), [START + 5000, { type: "enter", phase: "admission" }]);

describe("an active deadline", () => {
  it("shows every bound with what is left, the one in force first", () => {
    const record = afterEvents(recordWith(), [
      START + 4000,
      { type: "progress", phase: "preparation", step: "copy", position: 1 },
    ]);
    const now = START + 10_000;
    const summary = deadlineSummary(viewAt(record, now), now);
    expect(summary.state).toBe("active");
    expect(summary.bars.map(({ key, limits, left }) => [key, limits, left])).toEqual([
      ["stall", true, "6 s left"],
      ["budget", false, "2 min 50 s left"],
      ["phase-ceiling", false, "5 min 50 s left"],
      ["attempt-ceiling", false, "11 min 50 s left"],
    ]);
    expect(summary.headline).toBe("6 s left in preparation, limited by: silence without progress");
    expect(summary.bars[1]).toMatchObject({ fraction: 10 / 180, renewedFrom: null, note: "3 min in all" });
    expect(summary.bars[1]?.spoken).toBe("2 minutes 50 seconds left of 3 minutes");
    expect(summary.phases).toEqual([
      { name: "preparation", state: "current", budget: "3 min" },
      { name: "admission", state: "ahead", budget: "30 s" },
    ]);
  });

  it("counts a silence from the last progress that was shown", () => {
    const moved = recordAfter([START + 4000, imageReport(1)]);
    const now = START + 10_000;
    const stall = deadlineSummary(viewAt(moved, now), now).bars[0];
    expect(stall).toMatchObject({
      key: "stall",
      startAt: START + 4000,
      endAt: START + 16_000,
      fraction: 0.5,
    });
  });

  it("says that its window stands still while somebody else's work is waited for, and for how long it did", () => {
    const wait = (position: number, done?: boolean) =>
      imageReport(position, { step: "image-wait", waiting: true, done });
    const waiting = recordAfter([START + 4000, imageReport(1)], [START + 10_000, wait(5)]);
    const now = START + 100_000;
    const still = deadlineSummary(viewAt(waiting, now), now);
    expect(still.bars.map(({ key, limits }) => [key, limits])).toEqual([
      ["phase-ceiling", true],
      ["attempt-ceiling", false],
    ]);
    expect(still.detail).toBe(
      "The window of preparation stands still while somebody else's work is waited for, with 2 min 50 s left.",
    );
    const over = recordAfter([START + 10_000, wait(5)], [START + 50_000, wait(5, true)]);
    const window = deadlineSummary(viewAt(over, START + 51_000), START + 51_000);
    expect(window.detail).toBe("");
    expect(window.bars.find(({ key }) => key === "budget")).toMatchObject({
      endAt: START + 220_000,
      note: "3 min 40 s in all, stood still while somebody else's work was waited for, 40 s more than at first",
    });
  });

  it("marks on a renewed window where it would have ended", () => {
    const renewed = afterEvents(inAdmission, [
      START + 25_000,
      { type: "change", generation: 2, digest: "other", committedAt: START + 25_000 },
    ]);
    const now = START + 26_000;
    const window = deadlineSummary(viewAt(renewed, now), now).bars.find(({ key }) => key === "budget");
    expect(window).toMatchObject({
      label: "Window of admission",
      limits: true,
      startAt: START + 5000,
      endAt: START + 55_000,
      renewedFrom: 0.6,
      left: "29 s left",
      note: "50 s in all, renewed, 20 s more than at first",
    });
  });

  it("tells of a rejection, whatever it says", () => {
    const message = '<img src=x onerror="alert(1)">';
    const rejected = afterEvents(inAdmission, [START + 6000, { type: "reject", generation: 1, message }]);
    const { detail, bars } = deadlineSummary(viewAt(rejected, START + 7000), START + 7000);
    expect(detail).toBe(`Configuration 1 was rejected: ${message}`);
    expect(bars.map(({ key }) => key)).toEqual(["budget", "phase-ceiling", "attempt-ceiling"]);
  });

  it("that has passed and is not written yet is shown as up", () => {
    const view = viewAt(inAdmission, START + 6000);
    expect(timeLeft(view.deadline, START + 40_000)).toBe("time is up");
    expect(deadlineSummary(view, START + 40_000).headline).toMatch(/^Time is up in admission/);
  });

  it("keeps bounds and phases of a newer gateway", () => {
    const now = START + 1000;
    const view = viewAt(recordWith(), now);
    const deadline = {
      ...view.deadline!,
      bounds: { ...view.deadline!.bounds, moon: now + 9000 },
      limitedBy: "moon",
    };
    const { bars } = deadlineSummary({ ...view, deadline: deadline as never }, now);
    expect(bars[0]).toMatchObject({ key: "moon", label: "moon", limits: true, left: "9 s left" });
  });

  it("has bars within their frame at every instant", () => {
    const events = fc.record({ enterAt: fc.nat(11_000), changeAfter: fc.nat(29_000), look: fc.nat(700_000) });
    fc.assert(
      fc.property(events, ({ enterAt, changeAfter, look }) => {
        const record = afterEvents(
          recordWith(),
          [START + enterAt, { type: "enter", phase: "admission" }],
          [START + enterAt + changeAfter, { type: "change", generation: 2, digest: "other" }],
        );
        const at = START + enterAt + changeAfter;
        for (const bar of deadlineSummary(viewAt(record, at), at + look).bars) {
          expect(bar.fraction).toBeGreaterThanOrEqual(0);
          expect(bar.fraction).toBeLessThanOrEqual(1);
          expect(bar.renewedFrom === null || (bar.renewedFrom > 0 && bar.renewedFrom < 1)).toBe(true);
          expect(bar.startAt).toBeLessThanOrEqual(bar.endAt);
          expect(`${bar.left} ${bar.spoken} ${bar.note}`).not.toMatch(/NaN|Infinity|undefined|null|-/);
        }
      }),
    );
  });
});

describe("a deadline that is over", () => {
  it("says which limit passed, and how its cleanup stands", () => {
    const at = START + BUDGETS.stallMs!;
    const expired = afterEvents(recordWith(), [at, { type: "tick" } as never]);
    const summary = deadlineSummary(viewAt(expired, at), at);
    expect(summary).toMatchObject({
      state: "expired",
      headline: "Expired: Silence without progress",
      bars: [],
    });
    expect(summary.phases.map(({ state }) => state)).toEqual(["ended", "ahead"]);
    expect(summary.detail).toBe(`${expired.deadline!.expiry!.message}. Its cleanup is under way.`);
    const claimed = afterEvents(
      expired,
      [at, { type: "claim-cleanup", owner: "one" }],
      [at + 1, { type: "cleanup-done", claim: 1, ok: false, error: "busy" }],
    );
    expect(deadlineSummary(viewAt(claimed, at + 1), at + 1).detail).toMatch(/The last try failed: busy$/);
    const done = afterEvents(
      claimed,
      [at + 2, { type: "claim-cleanup", owner: "one" }],
      [at + 3, { type: "cleanup-done", claim: 2, ok: true }],
    );
    expect(deadlineSummary(viewAt(done, at + 3), at + 3).detail).toMatch(/It was cleaned up\.$/);
  });

  it("and is not written as expired yet is shown as up", () => {
    const view = viewAt(recordWith(), NOW);
    expect(view.deadline).toMatchObject({ status: "expired", expiry: null });
    expect(deadlineSummary(view, NOW)).toMatchObject({
      state: "expired",
      headline: "Time is up in preparation; the gateway is about to say so",
    });
  });

  it("was met, or was called off", () => {
    const met = afterEvents(inAdmission, [START + 12_000, { type: "complete" }]);
    expect(deadlineSummary(viewAt(met, NOW), NOW)).toMatchObject({
      state: "met",
      headline: "Met after 12.0s",
      phases: [{ state: "past" }, { state: "past" }],
    });
    const cancelled = afterEvents(recordWith(), [START + 3000, { type: "cancel", reason: "stop" }]);
    expect(deadlineSummary(viewAt(cancelled, NOW), NOW).headline).toBe("Over: cancelled after 3.0s");
  });

  it.each([
    [0, "0.0s"],
    [900, "0.9s"],
    [11_960, "12.0s"],
  ])("took what it took, also less than a second: %i ms", (took, shown) => {
    const admitted = afterEvents(recordWith(), [START, { type: "enter", phase: "admission" }]);
    const met = afterEvents(admitted, [START + took, { type: "complete" }]);
    expect(deadlineSummary(viewAt(met, NOW), NOW).headline).toBe(`Met after ${shown}`);
    const cancelled = afterEvents(recordWith(), [START + took, { type: "cancel", reason: "stop" }]);
    expect(deadlineSummary(viewAt(cancelled, NOW), NOW).headline).toBe(`Over: cancelled after ${shown}`);
  });

  it("is not there without an attempt", () => {
    const view = viewAt(recordWith({ deadline: null }), NOW);
    expect(deadlineSummary(view, NOW)).toMatchObject({ state: "none", bars: [], phases: [] });
    expect(timeLeft(null, NOW)).toBe("");
  });
});
