import fc from "fast-check";
import { VirtualClock } from "slipway/testing";
import { describe, expect, it } from "vitest";
import { StoreClock } from "../src/store/store-clock.js";
import { middleOf, narrowed, offsetOf, type TimeOffset } from "../src/store/time-offset.js";

/** A server that dates its answers by whole seconds, somewhere between question and answer. */
const answer = fc.record({
  after: fc.integer({ min: 0, max: 20_000 }),
  there: fc.integer({ min: 0, max: 400 }),
  back: fc.integer({ min: 0, max: 400 }),
});

describe("an offset from answers that are dated by whole seconds", () => {
  it("is always within what is known, which only ever narrows while no clock is set", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e9, max: 1e9 }),
        fc.array(answer, { minLength: 1, maxLength: 30 }),
        (truth, answers) => {
          let now = 1_800_000_000_000;
          let known: TimeOffset | null = null;
          for (const { after, there, back } of answers) {
            now += after;
            const before = now;
            const second = Math.floor((now + there + truth) / 1000) * 1000;
            now += there + back;
            const next = offsetOf({ earliest: second, latest: second + 1000 }, before, now);
            const narrower: TimeOffset = known === null ? next : narrowed(known, next, 0);
            expect(narrower.least).toBeLessThanOrEqual(truth);
            expect(narrower.most).toBeGreaterThanOrEqual(truth);
            if (known !== null)
              expect(narrower.most - narrower.least).toBeLessThanOrEqual(known.most - known.least);
            known = narrower;
          }
        },
      ),
    );
  });

  it("is the later one where two contradict each other: a clock was set", () => {
    const known = { least: 100, most: 200 };
    expect(narrowed(known, { least: 201, most: 400 }, 0)).toEqual({ least: 201, most: 400 });
    expect(narrowed(known, { least: 201, most: 400 }, 1)).toEqual({ least: 201, most: 201 });
    expect(narrowed(known, { least: -900, most: 99 }, 0)).toEqual({ least: -900, most: 99 });
    expect(middleOf({ least: -900, most: 99 })).toBe(-400);
  });
});

describe("the store's clock on a store that tells whole seconds", () => {
  it("grows more exact from one answer to the next", async () => {
    const base = new VirtualClock({ startAt: 1_000_000 });
    const ask = () => {
      const earliest = Math.floor((base.now() + 4321) / 1000) * 1000;
      return Promise.resolve({ earliest, latest: earliest + 1000 });
    };
    const clock = await StoreClock.start({ base, ask, askEveryMs: 1370 });
    expect(clock.uncertaintyMs).toBe(500);
    const passed = 60_000;
    await base.advanceAsync(passed);
    expect(clock.uncertaintyMs).toBeLessThan(60);
    expect(Math.abs(clock.offsetMs - 4321)).toBeLessThanOrEqual(clock.uncertaintyMs);
    await clock.close();
  });
});
