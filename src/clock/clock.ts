/// <reference lib="esnext.disposable" preserve="true" />
// Kept in the declarations, so that a consumer whose own libraries lack `Disposable` compiles all the same.

/** How an alarm behaves towards the process that waits for it. */
export interface ScheduleOptions {
  /** Let the process exit although the alarm is pending. Default: the alarm keeps the process alive. */
  readonly unref?: boolean | undefined;
}

/**
 * The port through which time comes in.
 *
 * Instants are integer epoch milliseconds. `now()` never runs backwards inside a process, so elapsed time is a
 * plain subtraction; across restarts it is wall time.
 *
 * @public
 */
export interface Clock {
  /** The current instant: integer epoch milliseconds, never less than an earlier answer of this process. */
  now(): number;
  /**
   * Calls back once, never synchronously, at `atMs` or as soon after it as the host allows. Disposing cancels.
   *
   * A host timer may fire up to 1 ms early: whoever acts on an instant reads `now()` again first.
   */
  schedule(atMs: number, callback: () => void, options?: ScheduleOptions): Disposable;
  /**
   * Stands for the process whose timers these are, where one clock object lives through several: a test clock that
   * simulates restarts gives a new one after each. Absent: the clock itself.
   */
  readonly incarnation?: object | undefined;
}

/** A change of the wall clock that no elapsed time explains: NTP, an operator, a restored snapshot. */
export interface ClockStep {
  /** When the step was noticed, on the clock that ignores it. */
  readonly at: number;
  /** How far the wall clock jumped, in milliseconds; negative means back. */
  readonly stepMs: number;
}
