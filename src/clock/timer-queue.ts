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
      alarm.key = at;
      alarm.place = this.#heap.push(alarm) - 1;
      this.#rise(alarm.place);
    } else if (at < alarm.key) {
      alarm.key = at;
      this.#rise(alarm.place);
    }
    if (at < this.#armedAt) this.#arm();
  }

  /** @internal */
  remove(alarm: HeapAlarm): void {
    const { place } = alarm;
    alarm.place = NOWHERE;
    if (place < 0) return;
    const last = this.#heap.pop();
    if (last !== undefined && last !== alarm) {
      this.#heap[place] = last;
      last.place = place;
      this.#rise(place);
      this.#sink(last.place);
    }
    if (this.#heap.length === 0) this.#disarm();
  }

  #arm(): void {
    if (this.#ringing) return;
    const first = this.#heap[0];
    if (first === undefined) return;
    this.#disarm();
    const now = this.#clock.now();
    this.#armedAt = Math.min(Math.max(first.key, now + 1), now + MAX_HOST_WAIT_MS);
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
    for (let first = this.#heap[0]; first !== undefined && first.key <= now; first = this.#heap[0]) {
      if (first.at > now) {
        first.key = first.at;
        this.#sink(0);
        continue;
      }
      this.remove(first);
      first.place = DUE;
      due.push(first);
    }
    return due;
  }

  #rise(start: number): void {
    const heap = this.#heap;
    const alarm = heap[start];
    if (alarm === undefined) return;
    let place = start;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || parent.key <= alarm.key) break;
      heap[place] = parent;
      parent.place = place;
      place = above;
    }
    heap[place] = alarm;
    alarm.place = place;
  }

  #sink(start: number): void {
    const heap = this.#heap;
    const alarm = heap[start];
    if (alarm === undefined) return;
    let place = start;
    for (;;) {
      let below = 2 * place + 1;
      let child = heap[below];
      if (child === undefined) break;
      const right = heap[below + 1];
      if (right !== undefined && right.key < child.key) {
        below += 1;
        child = right;
      }
      if (child.key >= alarm.key) break;
      heap[place] = child;
      child.place = place;
      place = below;
    }
    heap[place] = alarm;
    alarm.place = place;
  }
}

/**
 * `key` orders the heap and is never later than `at`: a renewal only moves `at`, and the heap learns of it when the
 * old key comes up.
 */
class HeapAlarm implements Alarm {
  at = 0;
  key = 0;
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
