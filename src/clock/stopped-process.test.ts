import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SteadyClock, type ClockHost } from "./steady-clock.js";

const HOUR = 3_600_000;

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
