import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../testing/index.js";
import type { Clock } from "./clock.js";
import { sharedQueue } from "./shared-queue.js";
import { TimerQueue, type Alarm } from "./timer-queue.js";

const DAY = 86_400_000;

/** A clock that counts how often a host timer is armed and cancelled. */
function counted(clock: VirtualClock): { clock: Clock; armed: () => number; cancelled: () => number } {
  let armed = 0;
  let cancelled = 0;
  return {
    clock: {
      now: () => clock.now(),
      schedule(at, callback) {
        armed += 1;
        const timer = clock.schedule(at, callback);
        return {
          [Symbol.dispose]() {
            cancelled += 1;
            timer[Symbol.dispose]();
          },
        };
      },
    },
    armed: () => armed,
    cancelled: () => cancelled,
  };
}

describe("TimerQueue", () => {
  it("holds one armed host timer however many alarms there are", () => {
    const clock = new VirtualClock();
    const queue = new TimerQueue(clock);
    for (let index = 0; index < 10_000; index += 1)
      queue.schedule(clock.now() + 1 + ((index * 7919) % 60_000), () => {});
    expect(queue.size).toBe(10_000);
    expect(clock.timers).toBe(1);
    clock.advance(60_001);
    expect(queue.size).toBe(0);
    expect(clock.timers).toBe(0);
  });

  it("renews to a later instant without a timer operation", () => {
    const clock = new VirtualClock();
    const host = counted(clock);
    const queue = new TimerQueue(host.clock);
    const rang: number[] = [];
    const alarm = queue.schedule(clock.now() + 1000, () => rang.push(clock.mono));
    for (let renewal = 0; renewal < 500; renewal += 1) alarm.set(clock.now() + 2000 + renewal);
    expect([host.armed(), host.cancelled()]).toEqual([1, 0]);
    clock.advance(10_000);
    expect(rang).toEqual([2499]);
    expect(host.armed()).toBe(2);
  });

  it("waits longer than a host timer can", () => {
    const clock = new VirtualClock();
    const queue = new TimerQueue(clock);
    const rang: number[] = [];
    queue.schedule(clock.now() + 60 * DAY, () => rang.push(clock.mono));
    clock.advance(60 * DAY - 1);
    expect(rang).toEqual([]);
    clock.advance(1);
    expect(rang).toEqual([60 * DAY]);
  });

  it("chains by itself on a clock that does not", () => {
    let now = 0;
    const waits: number[] = [];
    let wake = (): void => {};
    const clock: Clock = {
      now: () => now,
      schedule(at, callback) {
        waits.push(at - now);
        wake = callback;
        return { [Symbol.dispose]: () => {} };
      },
    };
    const rang: number[] = [];
    new TimerQueue(clock).schedule(2 ** 32, () => rang.push(now));
    for (const wait of [2 ** 31 - 1, 2 ** 31 - 1, 2]) {
      expect(waits.at(-1)).toBe(wait);
      now += wait;
      wake();
    }
    expect(rang).toEqual([2 ** 32]);
  });

  it("does not ring on a host timer that fires early, and waits at least 1 ms more", () => {
    let now = 0;
    const waits: number[] = [];
    let wake = (): void => {};
    const clock: Clock = {
      now: () => now,
      schedule(at, callback) {
        waits.push(at - now);
        wake = callback;
        return { [Symbol.dispose]: () => {} };
      },
    };
    const rang: number[] = [];
    new TimerQueue(clock).schedule(100, () => rang.push(now));
    now = 99.5;
    wake();
    expect(rang).toEqual([]);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(0.5);
    now = 100.5;
    wake();
    expect(rang).toEqual([100.5]);
  });

  it("rings in the order of the instants, through any mix of setting and cancelling", () => {
    const operation = fc.record({
      alarm: fc.nat(19),
      what: fc.constantFrom("set", "cancel"),
      at: fc.integer({ min: 0, max: 500 }),
    });
    fc.assert(
      fc.property(
        fc.array(operation, { maxLength: 200 }),
        fc.array(fc.integer({ min: 0, max: 100 })),
        (operations, waits) => {
          const clock = new VirtualClock({ startAt: 0 });
          const queue = new TimerQueue(clock);
          const due = new Map<number, number>();
          const rang: [number, number, number][] = [];
          const alarms: Alarm[] = Array.from({ length: 20 }, (_, index) => {
            const alarm: Alarm = queue.schedule(1e9, () => {
              rang.push([index, due.get(index) ?? -1, clock.now()]);
              due.delete(index);
            });
            alarm[Symbol.dispose]();
            return alarm;
          });
          for (const [index, { alarm, what, at }] of operations.entries()) {
            if (what === "set") {
              alarms[alarm]?.set(at);
              due.set(alarm, at);
            } else {
              alarms[alarm]?.[Symbol.dispose]();
              due.delete(alarm);
            }
            expect(queue.size).toBe(due.size);
            expect(clock.timers).toBe(due.size === 0 ? 0 : 1);
            clock.advance(waits[index % Math.max(waits.length, 1)] ?? 0);
          }
          clock.advance(1000);
          expect(queue.size).toBe(0);
          for (const [, at, now] of rang) expect(now).toBeGreaterThanOrEqual(at);
          // Late only by the millisecond that keeps an alarm from ringing within the call that sets it.
          const times = rang.map(([, , now]) => now);
          expect(times).toEqual([...times].sort((a, b) => a - b));
        },
      ),
    );
  });

  it("rings an alarm set to the present at the next waking, never within the call", () => {
    const clock = new VirtualClock();
    const queue = new TimerQueue(clock);
    let rings = 0;
    const alarm = queue.schedule(clock.now(), () => {
      rings += 1;
      if (rings < 5) alarm.set(clock.now());
    });
    expect(rings).toBe(0);
    clock.advance(3);
    expect(rings).toBe(3);
    clock.advance(10);
    expect(rings).toBe(5);
  });

  it("silences a due alarm that a neighbour cancels, and moves one that a neighbour sets", () => {
    const clock = new VirtualClock();
    const queue = new TimerQueue(clock);
    const rang: string[] = [];
    const at = clock.now() + 10;
    let others: Alarm[] = [];
    const first = (): void => {
      rang.push("first");
      others[0]?.[Symbol.dispose]();
      others[1]?.set(at + 50);
    };
    queue.schedule(at - 1, () => {});
    const one = queue.schedule(at, first);
    others = ["cancelled", "moved"].map((name) =>
      queue.schedule(at, () => rang.push(`${name} ${clock.mono}`)),
    );
    // Equal instants ring in any order: make the first one the earliest.
    one.set(at - 1);
    for (const other of others) other.set(at - 1);
    clock.advance(9);
    const early = [...rang];
    clock.advance(100);
    if (early[0] === "first") expect(rang).toEqual(["first", "moved 60"]);
    expect(queue.size).toBe(0);
  });

  it("goes on when an alarm throws, and lets the host see the error", () => {
    const clock = new VirtualClock();
    const queue = new TimerQueue(clock);
    const rang: string[] = [];
    queue.schedule(clock.now() + 1, () => {
      throw new Error("mine");
    });
    queue.schedule(clock.now() + 1, () => rang.push("other"));
    queue.schedule(clock.now() + 2, () => rang.push("later"));
    expect(() => clock.advance(1)).toThrow("mine");
    clock.advance(1);
    expect(rang).toEqual(["other", "later"]);
    queue.schedule(clock.now() + 1, () => {
      throw new Error("a");
    });
    queue.schedule(clock.now() + 1, () => {
      throw new Error("b");
    });
    expect(() => clock.advance(1)).toThrow(AggregateError);
  });

  it("refuses an instant that is none", () => {
    const queue = new TimerQueue(new VirtualClock());
    expect(() => queue.schedule(Number.NaN, () => {})).toThrow(/at must be a finite number, got NaN/);
    expect(() => queue.schedule(Number.POSITIVE_INFINITY, () => {})).toThrow(/got Infinity/);
  });

  it("is shared by everything on one clock, apart for those that let the process exit", () => {
    const clock = new VirtualClock();
    expect(sharedQueue(clock, false)).toBe(sharedQueue(clock, false));
    expect(sharedQueue(clock, true)).toBe(sharedQueue(clock, true));
    expect(sharedQueue(clock, true)).not.toBe(sharedQueue(clock, false));
    const before = sharedQueue(clock, false);
    clock.restart();
    expect(sharedQueue(clock, false)).not.toBe(before);
  });
});
