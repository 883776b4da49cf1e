import { invalid } from "../errors.js";
import type { Clock } from "./clock.js";

/** The longest wait that a host timer takes: beyond it Node fires after 1 ms. */
const MAX_HOST_WAIT_MS = 2 ** 31 - 1;

/** Place of an alarm that is not waiting, and of one that is due and about to ring in this waking. */
const NOWHERE = -1;
const DUE = -2;

/** An alarm in a {@link TimerQueue}. Disposing cancels it. */
export interface Alarm extends Disposable {
  /** The instant it is set to. */
  readonly at: number;
  /** Whether it is waiting. False once it rang or was cancelled. */
  readonly pending: boolean;
  /**
   * Sets the alarm to another instant, also after it rang. A later instant costs no timer operation: the alarm
   * wakes at the old one, sees that nothing is due and sleeps on.
   */
  set(at: number): void;
}

/** What has an alarm, told when it rings: where many have one, a function for each would cost as much as the alarm. */
export interface AlarmOwner {
  alarmRang(): void;
}

/** How a {@link TimerQueue} behaves. */
export interface TimerQueueOptions {
  /** Let the process exit although alarms are pending. Default `false`. */
  readonly unref?: boolean | undefined;
}

/**
 * Any number of alarms on one armed host timer.
 *
 * An alarm never rings before its instant, whatever the host timer does: on waking the clock is read again, and a
 * wait that is left is armed anew by at least 1 ms. Alarms ring in order of their instants; equal instants in an
 * unspecified order. An alarm that throws stops neither the queue nor the others.
 *
 * @example
 * ```ts
 * import { systemClock, TimerQueue } from "slipway";
 *
 * const queue = new TimerQueue(systemClock);
 * const alarm = queue.schedule(systemClock.now() + 20, () => console.log("rang"));
 * alarm.set(systemClock.now() + 40); // renewed: no timer operation
 * ```
 *
 * @public
 */
export class TimerQueue {
  readonly #clock: Clock;
  readonly #unref: boolean;
  readonly #heap: HeapAlarm[] = [];
  /**
   * What orders the heap, place by place: beside it, so that sifting reads numbers that lie together and not an alarm
   * for each. Never later than the alarm's `at`: a renewal only moves that, and the heap learns of it when the key comes up.
   */
  readonly #keys: number[] = [];
  #armed: Disposable | undefined;
  #armedAt = Number.POSITIVE_INFINITY;
  #ringing = false;

  /** An empty queue, which holds no host timer until something is scheduled. */
  constructor(clock: Clock, options: TimerQueueOptions = {}) {
    this.#clock = clock;
    this.#unref = options.unref === true;
  }

  /** The number of alarms that wait. */
  get size(): number {
    return this.#heap.length;
  }

  /**
   * Adds an alarm.
   *
   * @throws {@link SlipwayError} `INVALID_INSTANT` when `at` is not a finite number.
   */
  schedule(at: number, callback: () => void): Alarm {
    return this.scheduleFor(at, callback);
  }

  /** @internal */
  scheduleFor(at: number, owner: AlarmOwner | (() => void)): Alarm {
    const alarm = new HeapAlarm(this, owner);
    this.place(alarm, at);
    return alarm;
  }

  /** @internal */
  place(alarm: HeapAlarm, at: number): void {
    if (!Number.isFinite(at)) {
      throw invalid("INVALID_INSTANT", "alarm", "at", "a finite number", at);
    }
    alarm.at = at;
    if (alarm.place < 0) {
      this.#keys.push(at);
      this.#rise(alarm, this.#heap.push(alarm) - 1, at);
    } else if (at < this.#keyAt(alarm.place)) {
      this.#rise(alarm, alarm.place, at);
    }
    if (at < this.#armedAt) this.#arm();
  }

  /** @internal */
  remove(alarm: HeapAlarm): void {
    const { place } = alarm;
    alarm.place = NOWHERE;
    if (place < 0) return;
    const last = this.#heap.pop();
    const key = this.#keys.pop();
    if (last !== undefined && last !== alarm && key !== undefined) {
      if (place > 0 && key < this.#keyAt((place - 1) >> 1)) this.#rise(last, place, key);
      else this.#sink(last, place, key);
    }
    if (this.#heap.length === 0) this.#disarm();
  }

  #arm(): void {
    if (this.#ringing) return;
    const first = this.#keys[0];
    if (first === undefined) return;
    this.#disarm();
    const now = this.#clock.now();
    this.#armedAt = Math.min(Math.max(first, now + 1), now + MAX_HOST_WAIT_MS);
    this.#armed = this.#clock.schedule(this.#armedAt, this.#wake, { unref: this.#unref });
  }

  #disarm(): void {
    this.#armed?.[Symbol.dispose]();
    this.#armed = undefined;
    this.#armedAt = Number.POSITIVE_INFINITY;
  }

  /**
   * Takes all due alarms out before the first one rings: a callback that sets an alarm to this very instant waits
   * for the next waking, and one that cancels a neighbour still silences it.
   */
  readonly #wake = (): void => {
    this.#armed = undefined;
    this.#armedAt = Number.POSITIVE_INFINITY;
    this.#ringing = true;
    const thrown: unknown[] = [];
    for (const alarm of this.#takeDue(this.#clock.now())) {
      if (alarm.place !== DUE) continue;
      alarm.place = NOWHERE;
      try {
        alarm.ring();
      } catch (error) {
        thrown.push(error);
      }
    }
    this.#ringing = false;
    this.#arm();
    if (thrown.length > 0) throw thrown.length === 1 ? thrown[0] : new AggregateError(thrown, "Alarms threw");
  };

  #takeDue(now: number): HeapAlarm[] {
    const due: HeapAlarm[] = [];
    for (let first = this.#heap[0]; first !== undefined && this.#keyAt(0) <= now; first = this.#heap[0]) {
      if (first.at > now) {
        this.#sink(first, 0, first.at);
        continue;
      }
      this.remove(first);
      first.place = DUE;
      due.push(first);
    }
    return due;
  }

  #keyAt(place: number): number {
    return this.#keys[place] ?? Number.POSITIVE_INFINITY;
  }

  #put(alarm: HeapAlarm, place: number, key: number): void {
    this.#heap[place] = alarm;
    this.#keys[place] = key;
    alarm.place = place;
  }

  /** Puts an alarm at a place, or as far above it as its key belongs. */
  #rise(alarm: HeapAlarm, start: number, key: number): void {
    let place = start;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parentKey = this.#keyAt(above);
      if (parentKey <= key) break;
      const parent = this.#heap[above];
      if (parent === undefined) break;
      this.#put(parent, place, parentKey);
      place = above;
    }
    this.#put(alarm, place, key);
  }

  /** Puts an alarm at a place, or as far below it as its key belongs. */
  #sink(alarm: HeapAlarm, start: number, key: number): void {
    const count = this.#heap.length;
    let place = start;
    for (let below = 2 * place + 1; below < count; below = 2 * place + 1) {
      if (below + 1 < count && this.#keyAt(below + 1) < this.#keyAt(below)) below += 1;
      const childKey = this.#keyAt(below);
      if (childKey >= key) break;
      const child = this.#heap[below];
      if (child === undefined) break;
      this.#put(child, place, childKey);
      place = below;
    }
    this.#put(alarm, place, key);
  }
}

/** One alarm of a queue, which orders it by a key of its own (see there). */
class HeapAlarm implements Alarm {
  at = 0;
  /** In the heap of its queue. */
  place = NOWHERE;
  readonly #owner: AlarmOwner | (() => void);
  readonly #queue: TimerQueue;

  constructor(queue: TimerQueue, owner: AlarmOwner | (() => void)) {
    this.#queue = queue;
    this.#owner = owner;
  }

  ring(): void {
    if (typeof this.#owner === "function") this.#owner();
    else this.#owner.alarmRang();
  }

  get pending(): boolean {
    return this.place !== NOWHERE;
  }

  set(at: number): void {
    this.#queue.place(this, at);
  }

  [Symbol.dispose](): void {
    this.#queue.remove(this);
  }
}
