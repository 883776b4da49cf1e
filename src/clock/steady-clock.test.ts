import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../testing/index.js";
import { SteadyClock, type ClockHost } from "./steady-clock.js";
import { systemClock } from "./system-clock.js";

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

/** What happens to a machine right before one of its clocks is read, in milliseconds. */
interface Mishap {
  readonly what: "pause" | "suspend" | "step";
  readonly ms: number;
}

/** A host on which something may happen before any single reading: a process is stopped wherever it stands. */
class EventfulHost implements ClockHost {
  readonly #mishaps: (Mishap | null)[] = [];
  #mono = 0;
  #wall = 1_800_000_000_000;
  #asleep = 0;
  /** Time that passed in truth, asleep or not. */
  get elapsed(): number {
    return this.#mono + this.#asleep;
  }

  before(mishaps: readonly (Mishap | null)[]): void {
    this.#mishaps.push(...mishaps);
  }

  /** How many of the mishaps are still to come. */
  get coming(): number {
    return this.#mishaps.length;
  }

  pass(ms: number): void {
    this.#mono += ms;
    this.#wall += ms;
  }

  monoMs(): number {
    this.#happen();
    return this.#mono;
  }

  wallMs(): number {
    this.#happen();
    return this.#wall;
  }

  bootMs(): number {
    this.#happen();
    return this.#mono + this.#asleep;
  }

  startTimer(): Disposable {
    return { [Symbol.dispose]: () => undefined };
  }

  #happen(): void {
    const mishap = this.#mishaps.shift();
    if (mishap === null || mishap === undefined) return;
    if (mishap.what === "pause") this.pass(mishap.ms);
    if (mishap.what === "suspend") {
      this.#asleep += mishap.ms;
      this.#wall += mishap.ms;
    }
    if (mishap.what === "step") this.#wall += mishap.ms;
  }
}

describe("a process that is stopped between two readings of its clocks", () => {
  const PAUSE: Mishap = { what: "pause", ms: 3000 };

  it.each([0, 1, 2, 3, 4, 5, 6, 7])("takes no pause for a suspend or a step, before reading %i", (place) => {
    const host = new EventfulHost();
    const clock = new SteadyClock(host);
    const beganAt = clock.now() - host.elapsed;
    host.pass(10);
    host.before([...Array<null>(place).fill(null), PAUSE]);
    while (host.coming > 0) {
      expect(clock.now() - beganAt).toBeLessThanOrEqual(host.elapsed);
      clock.compare();
    }
    host.pass(10);
    expect(clock.now() - beganAt).toBe(3020);
    expect([clock.suspendedMs, clock.lastStep]).toEqual([0, null]);
  });

  it.each([0, 1, 2, 3])("begins with clocks that were read together, paused before reading %i", (place) => {
    const host = new EventfulHost();
    host.before([...Array<null>(place).fill(null), PAUSE]);
    const clock = new SteadyClock(host);
    clock.compare();
    expect([clock.now(), clock.suspendedMs, clock.lastStep]).toEqual([1_800_000_003_000, 0, null]);
  });

  it("is never ahead for having begun with clocks that could not be read together", () => {
    const pauseOrSleep = fc.record({
      what: fc.constantFrom("pause" as const, "suspend" as const),
      ms: fc.integer({ min: 501, max: 5000 }),
    });
    fc.assert(
      // Something comes in between in each of the five readings.
      fc.property(
        fc.array(fc.option(pauseOrSleep, { freq: 3 }), { minLength: 20, maxLength: 24 }),
        (mishaps) => {
          const host = new EventfulHost();
          const bornAt = host.wallMs();
          host.before(mishaps);
          const clock = new SteadyClock(host);
          expect(clock.now() - bornAt).toBeLessThanOrEqual(host.elapsed);
          while (host.coming > 0) clock.compare();
          host.pass(10);
          clock.compare();
          const { suspendedMs, lastStep } = clock;
          const beganAt = clock.now() - host.elapsed;
          expect(beganAt).toBeLessThanOrEqual(bornAt);
          expect(lastStep).toBe(null);
          host.before([null, { what: "suspend", ms: HOUR }]);
          host.pass(10);
          expect(clock.now() - beganAt).toBe(host.elapsed);
          expect(clock.suspendedMs).toBe(suspendedMs + HOUR);
        },
      ),
    );
  });

  it("counts what was slept and what was set, wherever both come, and is never ahead of the truth", () => {
    const mishap = fc.oneof(
      { weight: 5, arbitrary: fc.constant(null) },
      fc.record({ what: fc.constant("pause" as const), ms: fc.integer({ min: 1, max: 5000 }) }),
      fc.record({ what: fc.constant("suspend" as const), ms: fc.integer({ min: 1000, max: 2 * HOUR }) }),
      fc.record({ what: fc.constant("step" as const), ms: fc.integer({ min: -2 * HOUR, max: 2 * HOUR }) }),
    );
    fc.assert(
      fc.property(fc.array(mishap, { maxLength: 40 }), (mishaps) => {
        const host = new EventfulHost();
        const clock = new SteadyClock(host);
        const beganAt = clock.now() - host.elapsed;
        host.before(mishaps);
        while (host.coming > 0) {
          expect(clock.now() - beganAt).toBeLessThanOrEqual(host.elapsed);
          clock.compare();
          host.pass(1);
        }
        clock.compare();
        const behind = host.elapsed - (clock.now() - beganAt);
        expect(behind).toBeGreaterThanOrEqual(0);
        // What is too short to be told from a clock that wanders.
        expect(behind).toBeLessThanOrEqual(500);
        if (!mishaps.some((each) => each?.what === "step")) expect(clock.lastStep).toBe(null);
      }),
    );
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

describe("the system clock", () => {
  it("reads the host's clocks", () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(Number.isSafeInteger(now)).toBe(true);
    expect(Math.abs(now - before)).toBeLessThan(60_000);
    expect(systemClock.now()).toBeGreaterThanOrEqual(now);
  });

  it("arms a host timer that can be cancelled, and can let the process exit", () => {
    const alarm = systemClock.schedule(systemClock.now() + 3_600_000, () => {}, { unref: true });
    alarm[Symbol.dispose]();
    const { promise, resolve } = ((): { promise: Promise<void>; resolve: () => void } => {
      let resolve = (): void => {};
      const promise = new Promise<void>((done) => (resolve = done));
      return { promise, resolve };
    })();
    systemClock.schedule(systemClock.now(), resolve);
    return promise;
  });
});
