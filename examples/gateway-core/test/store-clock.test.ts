import fc from "fast-check";
import { VirtualClock } from "slipway/testing";
import { describe, expect, it } from "vitest";
import { StoreClock } from "../src/store/store-clock.js";

describe("the store's clock", () => {
  it("shows the store's time, whatever this host's clock says", async () => {
    const base = new VirtualClock({ startAt: 1_000_000 });
    const clock = await StoreClock.start({ base, ask: () => Promise.resolve(base.now() + 3_600_000) });
    expect(clock.now()).toBe(4_600_000);
    await base.advanceAsync(5000);
    expect(clock.now()).toBe(4_605_000);
    await clock.close();
  });

  it("rings at the store's instant, also when the store's time turned out to be another", async () => {
    const base = new VirtualClock({ startAt: 0 });
    let ahead = 10_000;
    const clock = await StoreClock.start({
      base,
      ask: () => Promise.resolve(base.now() + ahead),
      askEveryMs: 1000,
    });
    const rang: number[] = [];
    clock.schedule(15_000, () => rang.push(base.now()));
    ahead = 8000;
    await base.advanceAsync(20_000);
    expect(rang).toEqual([7000]);
    await clock.close();
  });

  it("never runs backwards, whatever the store answers and however long that takes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: -7_200_000, max: 7_200_000 }), { minLength: 1, maxLength: 20 }),
        async (offsets) => {
          const base = new VirtualClock({ startAt: 10_000_000 });
          let index = 0;
          const ask = () =>
            Promise.resolve(base.now() + (offsets[Math.min(index++, offsets.length - 1)] ?? 0));
          const clock = await StoreClock.start({ base, ask, askEveryMs: 1000 });
          let latest = clock.now();
          for (let step = 0; step < 25; step += 1) {
            await base.advanceAsync(997);
            expect(clock.now()).toBeGreaterThanOrEqual(latest);
            latest = clock.now();
          }
          await clock.close();
        },
      ),
      { numRuns: 50 },
    );
  });

  it("goes on by itself while the store is away", async () => {
    const base = new VirtualClock({ startAt: 0 });
    let up = true;
    const errors: unknown[] = [];
    const ask = () => (up ? Promise.resolve(base.now() + 500) : Promise.reject(new Error("away")));
    const clock = await StoreClock.start({
      base,
      ask,
      askEveryMs: 1000,
      onError: (error) => errors.push(error),
    });
    up = false;
    await base.advanceAsync(10_000);
    expect(clock.now()).toBe(10_500);
    expect(errors.length).toBeGreaterThan(5);
    await clock.close();
  });

  it("refuses to start on a store that has no time to tell", async () => {
    const base = new VirtualClock({ startAt: 0 });
    const ask = () => Promise.reject(new Error("refused"));
    await expect(StoreClock.start({ base, ask })).rejects.toThrow("refused");
  });
});
