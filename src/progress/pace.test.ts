import { describe, expect, it } from "vitest";
import { Driven } from "../../test/progress/driven-steps.js";
import { rebaseTracker } from "./rebase.js";
import { readSteps } from "./step-reading.js";

describe("time", () => {
  it("never counts as less than what is known", () => {
    const driven = new Driven();
    driven.now = 5000;
    driven.start("export");
    driven.now = 4000;
    driven.report("export", 1);
    driven.finish("export");
    expect(driven.state.steps[0]).toMatchObject({ startedAt: 5000, finishedAt: 5000 });
    expect(driven.state.observedAt).toBe(5000);
    expect(readSteps(driven.state, 0)[0]?.elapsedMs).toBe(0);
  });

  it("taken is kept when a state moves onto a clock that was set back", () => {
    const driven = new Driven();
    driven.start("export");
    driven.now += 2000;
    driven.report("export", 1);
    const moved = rebaseTracker(driven.state, 500);
    expect(readSteps(moved, 700)[0]?.elapsedMs).toBe(2200);
    expect(rebaseTracker(moved, 900)).toBe(moved);
  });

  it("since the last word shows silence", () => {
    const driven = new Driven();
    driven.report("export", 1);
    driven.now += 42_000;
    expect(driven.read("export").quietMs).toBe(42_000);
    driven.finish("export");
    expect(driven.read("export").quietMs).toBe(0);
  });
});

describe("the rate", () => {
  it("is what was counted of late, and falls while nothing moves", () => {
    const driven = new Driven();
    driven.report("export", 0);
    for (let second = 1; second <= 60; second += 1) {
      driven.now += 1000;
      driven.report("export", second * 50_000_000);
    }
    expect(driven.read("export").perSecond).toBeCloseTo(50_000_000, -2);
    driven.now += 30_000;
    expect(driven.read("export").perSecond).toBeLessThan(1_000_000);
  });

  it("leaves out what a resumed part had already, and counts a part that is reported once", () => {
    const resumed = new Driven();
    resumed.report("export", 0);
    resumed.now += 2000;
    resumed.report("export", 900, { part: "a", total: 1000 });
    resumed.now += 2000;
    resumed.report("export", 920, { part: "a" });
    expect(resumed.read("export").perSecond).toBe(10);
    const whole = new Driven();
    whole.report("export", 0);
    whole.now += 2000;
    whole.report("export", 1000, { part: "a", total: 1000 });
    expect(whole.read("export").perSecond).toBe(500);
  });

  it("leaves out what a resumed step had already when it was first counted", () => {
    const resumed = new Driven();
    resumed.start("export");
    resumed.now += 2000;
    resumed.report("export", 3_000_000_000, { total: 4_900_000_000 });
    expect(resumed.read("export").perSecond).toBe(null);
    resumed.now += 2000;
    resumed.report("export", 3_100_000_000);
    expect(resumed.read("export").perSecond).toBe(50_000_000);
  });

  it("is unknown before a second was measured, and of a finished step", () => {
    const driven = new Driven();
    driven.report("export", 5);
    driven.now += 999;
    expect(driven.read("export").perSecond).toBe(null);
    driven.now += 5000;
    driven.finish("export");
    expect(driven.read("export").perSecond).toBe(null);
  });
});
