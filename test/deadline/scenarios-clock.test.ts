import { describe, expect, it } from "vitest";
import { live } from "./scenario-deadlines.js";
import { TimerQueue } from "../../src/clock/index.js";
import { DeadlineExpiredError, PhasedDeadline } from "../../src/deadline/index.js";
import { VirtualClock } from "../../src/testing/index.js";
import { D1, sec } from "./support.js";

describe("scenarios D: phased deadlines", () => {
  it("D-26 an early host timer expires nothing", () => {
    const clock = new VirtualClock({ earlyMs: 0.87 });
    const d = live(clock);
    const expired: number[] = [];
    d.on("expired", () => expired.push(clock.mono));
    clock.advance(899_999.5);
    expect(expired).toEqual([]);
    clock.advance(1000);
    expect(expired).toHaveLength(1);
    expect(expired[0]).toBeGreaterThanOrEqual(900_000);
    expect(expired[0]).toBeLessThan(900_002);
  });

  it("D-28 a clock set back within a process changes nothing", () => {
    const clock = new VirtualClock();
    const d = live(clock);
    const expired: number[] = [];
    d.on("expired", () => expired.push(clock.mono));
    clock.advance(300_000);
    clock.stepWall(-3_600_000);
    clock.advance(1_000_000);
    expect(expired).toEqual([900_000]);
    expect(clock.lastStep?.stepMs).toBe(-3_600_000);
  });

  it("D-29 a clock set forward is a step and no suspend", () => {
    const clock = new VirtualClock();
    const d = live(clock);
    clock.advance(300_000);
    clock.stepWall(3_600_000);
    expect(d.state.status).toBe("active");
    clock.advance(599_999);
    expect(d.state.status).toBe("active");
    clock.advance(1);
    expect(d.state.expiry?.at).toBe(sec(900));
    expect(clock.lastStep?.stepMs).toBe(3_600_000);
    expect(clock.suspendedMs).toBe(0);
  });

  it("D-30 suspended time counts", () => {
    const clock = new VirtualClock();
    const d = live(clock);
    clock.advance(300_000);
    clock.suspend(3_600_000);
    expect(d.state).toMatchObject({ status: "expired", expiry: { at: sec(900), observedAt: sec(3900) } });
    expect(d.claimCleanup("g")).toMatchObject({ claim: 1 });
  });

  it("D-31 after a short suspend the alarm still rings at the right moment", () => {
    const clock = new VirtualClock();
    const d = live(clock);
    const expired: number[] = [];
    d.on("expired", () => expired.push(clock.mono));
    clock.advance(300_000);
    clock.suspend(100_000);
    clock.advance(1_000_000);
    expect(expired).toEqual([800_000]);
  });

  it("leaves no timer behind once settled", () => {
    const clock = new VirtualClock();
    const timers = new TimerQueue(clock);
    const d = PhasedDeadline.start(D1, { attempt: "a1", clock, timers });
    expect(clock.timers).toBe(1);
    const { signal } = d;
    clock.advance(900_000);
    expect(signal.reason).toBeInstanceOf(DeadlineExpiredError);
    expect(clock.timers).toBe(0);
    expect(timers.size).toBe(0);
  });
});
