import { invalid } from "../errors.js";
import type { Clock, ClockStep, ScheduleOptions } from "./clock.js";

/**
 * The readings and timers of a host, as raw as it has them. Readings are milliseconds and may be fractional.
 *
 * @public
 */
export interface ClockHost {
  /** Monotonic time that drives the host's timers, from an arbitrary origin. */
  monoMs(): number;
  /** Wall time, epoch milliseconds; it may step either way. */
  wallMs(): number;
  /**
   * Time since boot including suspension, or `null` where the host has no such clock or where its monotonic
   * clock already counts suspension.
   */
  bootMs(): number | null;
  /** Starts a one-shot timer. `delayMs` is between 1 and 2^31-1. */
  startTimer(delayMs: number, callback: () => void, unref: boolean): Disposable;
}

/** Wall time may wander this far from monotonic time (NTP slewing, reading jitter) before it counts as news. */
const DRIFT_TOLERANCE_MS = 500;

/**
 * So long after a comparison monotonic time is believed alone. No suspend fits in: to freeze and to thaw processes takes
 * longer, and that is running time. It halves the cost of a reading where many come in a row (135 to 70 ns).
 */
const BELIEVED_MS = 1;

/**
 * Readings of several clocks count as one only when so little time passed from the first to the last. A process that
 * is stopped (SIGSTOP, a frozen control group, a debugger) or preempted between two of them would otherwise find its
 * own pause in one clock and not in the other, and take it for a suspend.
 */
const TOGETHER_MS = 50;

/** So often clocks are read again that were not read together. Until they are, nothing is concluded from them. */
const READINGS = 5;

/**
 * Longest sleep without looking at the clocks again. A host's timers stand still during suspend, so an alarm that
 * was armed before it can only be corrected by a waking that comes sooner than the alarm itself.
 */
const RECHECK_MS = 10_000;

/**
 * A {@link Clock} over raw host readings: wall time is anchored once, then elapsed time is added.
 *
 * A step of the wall clock therefore expires and extends nothing; it is kept in `lastStep` for diagnosis. Time that
 * the host spent suspended does count. A step and a suspend look alike to the wall clock; the boot clock tells
 * them apart. Ordinary reads compare two cheap clocks, once a millisecond of running time, and ask the boot clock only
 * when those disagree.
 *
 * @public
 */
export class SteadyClock implements Clock {
  readonly #host: ClockHost;
  /** What makes this clock's time of monotonic time: wall time at the anchor, and what was slept since. */
  #offsetMs: number;
  /**
   * By how much the boot clock is ahead of the monotonic one, as far as that is known: `null` until the clocks were read
   * together, `NaN` where there is no boot clock.
   */
  #bootAheadMs: number | null = null;
  #suspendedMs = 0;
  #steppedMs = 0;
  #lastStep: ClockStep | null = null;
  #latest = Number.NEGATIVE_INFINITY;
  /** Monotonic time at which it was last compared with the wall clock. */
  #comparedMono = Number.NEGATIVE_INFINITY;

  /** A clock over the three clocks of a host. */
  constructor(host: ClockHost) {
    this.#host = host;
    const readings = readTogether(host);
    const [before, , mono] = readings;
    // The earlier one of the wall clock: whatever time passed in between, this clock is behind by it and never ahead.
    this.#offsetMs = before - mono;
    this.#conclude(readings);
  }

  now(): number {
    let mono = this.#host.monoMs();
    const since = mono - this.#comparedMono;
    // A monotonic clock that stands still, as a test's may, says nothing about the time that passed.
    if (since <= 0 || since >= BELIEVED_MS) {
      const drift = this.#drift(this.#host.wallMs(), mono);
      // These two readings may have had a pause between them: those of a comparison have not.
      if (Math.abs(drift) > DRIFT_TOLERANCE_MS) mono = this.compare();
      else this.#comparedMono = mono;
    }
    this.#latest = Math.max(this.#latest, Math.floor(mono + this.#offsetMs));
    return this.#latest;
  }

  schedule(atMs: number, callback: () => void, options?: ScheduleOptions): Disposable {
    if (!Number.isFinite(atMs)) throw invalid("INVALID_INSTANT", "alarm", "atMs", "a finite number", atMs);
    const unref = options?.unref === true;
    // A chain of host timers, none longer than the recheck interval.
    let timer: Disposable | undefined;
    const arm = (): void => {
      const delay = Math.min(Math.max(atMs - this.now(), 1), RECHECK_MS);
      timer = this.#host.startTimer(delay, wake, unref);
    };
    const wake = (): void => {
      this.compare();
      if (this.now() < atMs) arm();
      else callback();
    };
    arm();
    return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
  }

  /** The latest step of the wall clock, or `null` while there was none. */
  get lastStep(): ClockStep | null {
    this.compare();
    return this.#lastStep;
  }

  /** How long the host was suspended since this clock was made, as far as its boot clock tells. */
  get suspendedMs(): number {
    this.compare();
    return this.#suspendedMs;
  }

  /**
   * Compares all three clocks, also when wall and monotonic time agree: a suspend and a step back of the same length
   * cancel out between those two. Done at each waking of an alarm, since the boot clock is not cheap.
   *
   * @returns Monotonic time at the comparison.
   * @internal
   */
  compare(): number {
    return this.#conclude(readTogether(this.#host));
  }

  #conclude([, wall, mono, boot, together]: Readings): number {
    if (!together) return mono;
    this.#comparedMono = mono;
    if (this.#bootAheadMs === null) {
      // The first to tell anything: what the clocks differ by is what they began with.
      this.#bootAheadMs = boot - mono;
      this.#steppedMs = this.#drift(wall, mono);
    }
    // What the boot clock is ahead by now was slept; what the wall clock is ahead by apart from that is a step.
    const asleep = boot - mono - this.#bootAheadMs;
    if (asleep > DRIFT_TOLERANCE_MS) {
      this.#bootAheadMs += asleep;
      this.#suspendedMs += asleep;
      this.#offsetMs += asleep;
    }
    const stepMs = this.#drift(wall, mono);
    if (Math.abs(stepMs) > DRIFT_TOLERANCE_MS) {
      this.#steppedMs += stepMs;
      this.#lastStep = { at: Math.floor(mono + this.#offsetMs), stepMs: Math.round(stepMs) };
    }
    return mono;
  }

  /** By how much wall time is ahead of this clock for no reason known so far. */
  #drift(wall: number, mono: number): number {
    return wall - mono - this.#offsetMs - this.#steppedMs;
  }
}

/**
 * All clocks of a host, the wall clock read first and last, for it alone never rests. `together`: hardly any time passed
 * from the first reading to the last.
 */
type Readings = readonly [before: number, wall: number, mono: number, boot: number, together: boolean];

/**
 * Reads all clocks at one instant, as far as a process can. What little time passes between the boot clock and the
 * monotonic one makes a suspend shorter, never longer.
 */
function readTogether(host: ClockHost, tries = READINGS): Readings {
  const before = host.wallMs();
  const boot = host.bootMs() ?? Number.NaN;
  const mono = host.monoMs();
  const wall = host.wallMs();
  const together = Math.abs(wall - before) <= TOGETHER_MS;
  return together || tries === 1 ? [before, wall, mono, boot, together] : readTogether(host, tries - 1);
}
