import {
  SteadyClock,
  type Clock,
  type ClockHost,
  type ClockStep,
  type ScheduleOptions,
} from "../clock/index.js";
import { invalid } from "../errors.js";

/** Fri, 15 Jan 2027 08:00:00 GMT: far from zero, so that a forgotten epoch shows. */
const DEFAULT_START_AT = 1_800_000_000_000;

/** The longest wait that Node's timers take; a longer one fires after 1 ms, here as there. */
const MAX_HOST_WAIT_MS = 2 ** 31 - 1;

/** How a {@link VirtualClock} starts and behaves. */
export interface VirtualClockOptions {
  /** Wall time at the start, epoch milliseconds. Default 1 800 000 000 000. */
  readonly startAt?: number | undefined;
  /** How much too early host timers fire, in milliseconds, below 1. Real ones: up to 0.98. Default 0. */
  readonly earlyMs?: number | undefined;
}

/**
 * A clock that moves only when it is told to, with the three readings a host has: monotonic, wall and boot.
 *
 * It runs the same logic as the system clock over virtual readings, so that steps of the wall clock, suspension,
 * early timers and process restarts behave as they do on a real machine.
 *
 * @example
 * ```ts
 * import { VirtualClock } from "slipway/testing";
 *
 * const clock = new VirtualClock();
 * clock.schedule(clock.now() + 1000, () => console.log("one second"));
 * clock.stepWall(-3_600_000); // NTP sets the clock back: elapsed time is untouched
 * clock.advance(1000); // one second
 * ```
 *
 * @public
 */
export class VirtualClock implements Clock {
  readonly #host: VirtualHost;
  #clock: SteadyClock;

  /** A clock that stands still until it is told to advance. */
  constructor(options: VirtualClockOptions = {}) {
    const { startAt = DEFAULT_START_AT, earlyMs = 0 } = options;
    check(Number.isFinite(startAt), "startAt", "a finite number of epoch milliseconds", startAt);
    check(earlyMs >= 0 && earlyMs < 1, "earlyMs", "a number from 0 to below 1", earlyMs);
    this.#host = new VirtualHost(startAt, earlyMs);
    this.#clock = new SteadyClock(this.#host);
  }

  now(): number {
    return this.#clock.now();
  }

  schedule(atMs: number, callback: () => void, options?: ScheduleOptions): Disposable {
    return this.#clock.schedule(atMs, callback, options);
  }

  get incarnation(): object {
    return this.#clock;
  }

  /** Monotonic time in milliseconds: starts at 0, stands still in suspend. */
  get mono(): number {
    return this.#host.mono;
  }

  /** Wall time, epoch milliseconds. */
  get wall(): number {
    return this.#host.wall;
  }

  /** Boot time in milliseconds: like `mono`, but goes on in suspend. */
  get boot(): number {
    return this.#host.boot;
  }

  /** The number of armed host timers. */
  get timers(): number {
    return this.#host.timers.length;
  }

  /** See {@link SteadyClock.lastStep}. */
  get lastStep(): ClockStep | null {
    return this.#clock.lastStep;
  }

  /** See {@link SteadyClock.suspendedMs}. */
  get suspendedMs(): number {
    return this.#clock.suspendedMs;
  }

  /** Lets time pass, firing what comes due at its own instant, in order. Callbacks run synchronously. */
  advance(ms: number): void {
    const end = this.#host.total + duration("ms", ms);
    for (let timer = this.#host.next(end); timer !== undefined; timer = this.#host.next(end))
      this.#fire(timer);
    this.#host.elapseUntil(end);
  }

  /** Like {@link VirtualClock.advance}, letting promises and immediates settle before, between and after timers. */
  async advanceAsync(ms: number): Promise<void> {
    const end = this.#host.total + duration("ms", ms);
    await settle();
    for (let timer = this.#host.next(end); timer !== undefined; timer = this.#host.next(end)) {
      this.#fire(timer);
      await settle();
    }
    this.#host.elapseUntil(end);
    await settle();
  }

  /** Sets the wall clock forward (positive) or back (negative), as NTP or an operator does. No time passes. */
  stepWall(ms: number): void {
    check(Number.isFinite(ms), "ms", "a finite number of milliseconds", ms);
    this.#host.wall += ms;
    this.#clock.compare();
  }

  /** Suspends the machine: wall and boot time go on, monotonic time and every timer stand still. */
  suspend(ms: number): void {
    const asleep = duration("ms", ms);
    this.#host.wall += asleep;
    this.#host.boot += asleep;
    this.#clock.compare();
  }

  /**
   * Ends this process and starts another one `downMs` later: pending timers are gone, the monotonic origin is new,
   * and time is anchored on the wall clock again, wherever that stands now.
   */
  restart(downMs = 0): void {
    this.#host.elapseUntil(this.#host.total + duration("downMs", downMs));
    this.#host.startProcess();
    this.#clock = new SteadyClock(this.#host);
  }

  #fire(timer: VirtualTimer): void {
    this.#host.elapseUntil(timer.due);
    timer[Symbol.dispose]();
    timer.callback();
  }
}

/** Lets queued microtasks and one round of the event loop run. Real, but no time that a test could see. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

function duration(field: string, ms: number): number {
  check(Number.isFinite(ms) && ms >= 0, field, "a finite number of milliseconds, 0 or more", ms);
  return ms;
}

function check(holds: boolean, field: string, expected: string, value: unknown): void {
  if (!holds) throw invalid("INVALID_OPTION", "virtual clock", field, expected, value);
}

class VirtualHost implements ClockHost {
  /** Time that passed outside suspension since the clock was made, through all restarts: what timers are due by. */
  total = 0;
  boot = 0;
  wall: number;
  readonly timers: VirtualTimer[] = [];
  readonly #earlyMs: number;
  #processStart = 0;

  constructor(wall: number, earlyMs: number) {
    this.wall = wall;
    this.#earlyMs = earlyMs;
  }

  get mono(): number {
    return this.total - this.#processStart;
  }

  monoMs(): number {
    return this.mono;
  }

  wallMs(): number {
    return this.wall;
  }

  bootMs(): number {
    return this.boot;
  }

  startTimer(delayMs: number, callback: () => void): Disposable {
    const wait = delayMs >= 1 && delayMs <= MAX_HOST_WAIT_MS ? delayMs : 1;
    const timer = new VirtualTimer(this.timers, this.total + wait - this.#earlyMs, callback);
    let low = 0;
    for (let high = this.timers.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((this.timers[middle]?.due ?? Number.POSITIVE_INFINITY) <= timer.due) low = middle + 1;
      else high = middle;
    }
    this.timers.splice(low, 0, timer);
    return timer;
  }

  next(until: number): VirtualTimer | undefined {
    const timer = this.timers[0];
    return timer !== undefined && timer.due <= until ? timer : undefined;
  }

  /** Never back: a callback may have let more time pass than its caller asked for. */
  elapseUntil(end: number): void {
    const ms = Math.max(end - this.total, 0);
    this.total += ms;
    this.boot += ms;
    this.wall += ms;
  }

  startProcess(): void {
    this.timers.length = 0;
    this.#processStart = this.total;
  }
}

class VirtualTimer implements Disposable {
  readonly due: number;
  readonly callback: () => void;
  readonly #timers: VirtualTimer[];

  constructor(timers: VirtualTimer[], due: number, callback: () => void) {
    this.#timers = timers;
    this.due = due;
    this.callback = callback;
  }

  [Symbol.dispose](): void {
    const place = this.#timers.indexOf(this);
    if (place >= 0) this.#timers.splice(place, 1);
  }
}
