import type { Alarm, AlarmOwner, TimerQueue } from "../clock/index.js";

/**
 * Has one alarm at most, for whatever is due next. A class to extend and no object of its own: there may be a hundred
 * thousand of them.
 *
 * @internal
 */
export abstract class OneAlarm implements AlarmOwner {
  /** Nothing rings any more. */
  protected disposed = false;
  readonly #queue: TimerQueue;
  #alarm: Alarm | undefined;
  #ending = false;

  constructor(queue: TimerQueue) {
    this.#queue = queue;
  }

  abstract alarmRang(): void;

  /** @param at - `Infinity`: nothing is due. */
  protected setAlarm(at: number): void {
    if (this.disposed) return;
    if (at === Number.POSITIVE_INFINITY) this.#alarm?.[Symbol.dispose]();
    else if (this.#alarm === undefined) this.#alarm = this.#queue.scheduleFor(at, this);
    else this.#alarm.set(at);
  }

  /** Lets out what was held back, and then no alarm rings any more. Whoever hears of that may dispose once more. */
  dispose(): void {
    if (this.#ending) return;
    this.#ending = true;
    try {
      this.flush();
    } finally {
      this.disposed = true;
      this.#alarm?.[Symbol.dispose]();
      this.#alarm = undefined;
    }
  }

  protected abstract flush(): void;
}
