import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../testing/index.js";
import { SteadyClock, type ClockHost } from "./steady-clock.js";

const HOUR = 3_600_000;

describe("a suspend right after a reading", () => {
  it("counts at once, also where the wall clock was set back by as much", () => {
    const clock = new VirtualClock();
    clock.advance(10);
    const before = clock.now();
    clock.advance(0.5);
    clock.suspend(HOUR);
    expect(clock.now()).toBe(before + HOUR);
    clock.stepWall(-HOUR);
    clock.suspend(HOUR);
    expect(clock.now()).toBe(before + 2 * HOUR);
  });
});

describe("SteadyClock", () => {
  it("never runs backwards, whatever the wall clock does", () => {
    const move = fc.record({
      what: fc.constantFrom("advance", "step", "suspend"),
      ms: fc.integer({ min: -2 * HOUR, max: 2 * HOUR }),
    });
    fc.assert(
      fc.property(fc.array(move), (moves) => {
        const clock = new VirtualClock();
        let expected = clock.now();
        for (const { what, ms } of moves) {
          if (what === "step") clock.stepWall(ms);
          else if (what === "suspend") clock.suspend(Math.abs(ms));
          else clock.advance(Math.abs(ms));
          // Suspends and steps of less than the tolerance pass unnoticed.
          if (what === "suspend" && Math.abs(ms) < 1000) return;
          if (what === "step" && Math.abs(ms) < 1000) return;
          if (what !== "step") expected += Math.abs(ms);
          expect(clock.now()).toBe(expected);
        }
      }),
    );
  });

  it("tells a suspend from a step, also when both come at once", () => {
    const clock = new VirtualClock();
    clock.suspend(2 * HOUR);
    clock.stepWall(-HOUR);
    const before = clock.now();
    expect(before).toBe(1_800_000_000_000 + 2 * HOUR);
    expect(clock.suspendedMs).toBe(2 * HOUR);
    expect(clock.lastStep).toEqual({ at: before, stepMs: -HOUR });
  });

  it("counts a suspend that a step back of the same length hides from the wall clock", () => {
    const clock = new VirtualClock();
    const rang: number[] = [];
    clock.schedule(clock.now() + 2 * HOUR, () => rang.push(clock.mono));
    clock.suspend(HOUR);
    clock.stepWall(-HOUR);
    clock.advance(HOUR);
    expect(rang).toEqual([HOUR]);
    expect(clock.suspendedMs).toBe(HOUR);
    expect(clock.lastStep?.stepMs).toBe(-HOUR);
  });

  it("refuses an alarm at no instant", () => {
    expect(() => new VirtualClock().schedule(Number.NaN, () => {})).toThrow(
      /atMs must be a finite number, got NaN/,
    );
  });

  it("takes a jump for a step where there is no boot clock", () => {
    let wall = 1000;
    let mono = 0;
    const host: ClockHost = {
      monoMs: () => mono,
      wallMs: () => wall,
      bootMs: () => null,
      startTimer: () => ({ [Symbol.dispose]: () => {} }),
    };
    const clock = new SteadyClock(host);
    expect(clock.lastStep).toBe(null);
    wall += HOUR;
    mono += 5.5;
    expect(clock.now()).toBe(1005);
    expect(clock.lastStep?.stepMs).toBe(Math.round(HOUR - 5.5));
    expect(clock.suspendedMs).toBe(0);
  });

  it("asks the boot clock only when wall and monotonic time disagree", () => {
    let asked = 0;
    let mono = 0;
    const host: ClockHost = {
      monoMs: () => mono,
      wallMs: () => mono,
      bootMs: () => {
        asked += 1;
        return mono;
      },
      startTimer: () => ({ [Symbol.dispose]: () => {} }),
    };
    const clock = new SteadyClock(host);
    for (mono = 0; mono < 1000; mono += 1) clock.now();
    expect(asked).toBe(1);
  });

  it("asks the wall clock once a millisecond of running time, and where no time runs", () => {
    let asked = 0;
    let mono = 0;
    let asleep = 0;
    const host: ClockHost = {
      monoMs: () => mono,
      wallMs: () => {
        asked += 1;
        return 1000 + Math.floor(mono) + asleep;
      },
      bootMs: () => mono + asleep,
      startTimer: () => ({ [Symbol.dispose]: () => {} }),
    };
    const clock = new SteadyClock(host);
    asked = 0;
    for (; mono < 100; mono += 1 / 64) clock.now();
    expect([asked, clock.now()]).toEqual([100, 1100]);
    asleep = HOUR;
    // The comparison before was at this very instant of monotonic time.
    expect(clock.now()).toBe(1100 + HOUR);
    asleep += HOUR;
    mono += 0.5;
    expect(clock.now()).toBe(1100 + HOUR);
    mono += 0.5;
    expect(clock.now()).toBe(1101 + 2 * HOUR);
    asleep += HOUR;
    mono += 0.5;
    expect(clock.suspendedMs).toBe(3 * HOUR);
  });

  it("anchors on the wall clock again after a restart", () => {
    const clock = new VirtualClock();
    clock.advance(1000);
    let rang = false;
    clock.schedule(clock.now() + 10, () => (rang = true));
    clock.stepWall(-HOUR);
    clock.restart(500);
    expect(clock.now()).toBe(1_800_000_000_000 + 1500 - HOUR);
    expect([clock.mono, clock.boot, clock.timers]).toEqual([0, 1500, 0]);
    clock.advance(100);
    expect(rang).toBe(false);
  });

  it("calls back once, at the instant or later, and not after it was disposed", () => {
    const clock = new VirtualClock({ earlyMs: 0.9 });
    const rang: number[] = [];
    const start = clock.now();
    clock.schedule(clock.now() + 25_000, () => rang.push(clock.now() - start));
    const cancelled = clock.schedule(clock.now() + 25_000, () => rang.push(-1));
    clock.schedule(clock.now() - 1, () => rang.push(clock.now() - start));
    cancelled[Symbol.dispose]();
    cancelled[Symbol.dispose]();
    expect(rang).toEqual([]);
    clock.advance(60_000);
    expect(rang).toHaveLength(2);
    expect(rang[0]).toBeLessThanOrEqual(1);
    expect(rang[1]).toBeGreaterThanOrEqual(25_000);
    expect(clock.timers).toBe(0);
  });
});
