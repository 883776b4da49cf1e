import { describe, expect, it } from "vitest";
import { VirtualClock } from "../testing/index.js";

describe("the virtual clock", () => {
  it.each([{ earlyMs: 1 }, { earlyMs: -1 }, { earlyMs: Number.NaN }, { startAt: Number.NaN }])(
    "refuses %o",
    (options) => {
      expect(() => new VirtualClock(options)).toThrow(/Invalid virtual clock/);
    },
  );

  it("goes forward only, though a callback lets time pass or restarts the process", () => {
    const clock = new VirtualClock();
    clock.schedule(clock.now() + 10, () => clock.advance(1000));
    clock.advance(20);
    expect([clock.mono, clock.boot]).toEqual([1010, 1010]);
    clock.schedule(clock.now() + 10, () => clock.restart(5000));
    clock.advance(20);
    expect([clock.mono, clock.boot, clock.wall]).toEqual([0, 6020, 1_800_000_006_020]);
    clock.advance(5);
    expect(clock.mono).toBe(5);
  });

  it("refuses to go back", () => {
    expect(() => new VirtualClock().stepWall(Number.NaN)).toThrow(/got NaN/);
    const clock = new VirtualClock();
    expect(() => clock.advance(-1)).toThrow(/ms must be a finite number of milliseconds/);
    expect(() => clock.suspend(Number.NaN)).toThrow(/got NaN/);
  });

  it("lets promises settle between timers when it is asked to", async () => {
    const clock = new VirtualClock();
    const order: string[] = [];
    const later = (ms: number, name: string): void => {
      clock.schedule(clock.now() + ms, () => {
        order.push(name);
        void Promise.resolve().then(() => order.push(`${name} settled`));
      });
    };
    later(1, "a");
    later(2, "b");
    await clock.advanceAsync(5);
    expect(order).toEqual(["a", "a settled", "b", "b settled"]);
  });
});
