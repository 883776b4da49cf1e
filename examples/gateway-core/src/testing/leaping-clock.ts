import { systemClock, type Clock, type ScheduleOptions } from "slipway";

interface Alarm {
  readonly atMs: number;
  readonly ring: () => void;
  readonly options: ScheduleOptions | undefined;
  host: Disposable;
}

/**
 * The system's clock, which a test makes leap ahead: with limits that no load reaches, a limit is reached exactly when
 * the test says so, while real engines take the time that they take.
 */
export class LeapingClock implements Clock {
  readonly #alarms = new Set<Alarm>();
  #aheadMs = 0;

  now(): number {
    return systemClock.now() + this.#aheadMs;
  }

  schedule(atMs: number, callback: () => void, options?: ScheduleOptions): Disposable {
    const ring = (): void => {
      this.#alarms.delete(alarm);
      callback();
    };
    const alarm: Alarm = { atMs, ring, options, host: this.#arm(atMs, ring, options) };
    this.#alarms.add(alarm);
    return {
      [Symbol.dispose]: () => {
        this.#alarms.delete(alarm);
        alarm.host[Symbol.dispose]();
      },
    };
  }

  leap(ms: number): void {
    this.#aheadMs += ms;
    for (const alarm of this.#alarms) {
      alarm.host[Symbol.dispose]();
      alarm.host = this.#arm(alarm.atMs, alarm.ring, alarm.options);
    }
  }

  #arm(atMs: number, ring: () => void, options: ScheduleOptions | undefined): Disposable {
    return systemClock.schedule(atMs - this.#aheadMs, ring, options);
  }
}
