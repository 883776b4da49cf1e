import type { Clock } from "./clock.js";
import { TimerQueue } from "./timer-queue.js";

const queues = new WeakMap<Clock, TimerQueue>();

/**
 * The queue that everything on one clock shares unless it is given another: thousands of waits, one host timer.
 *
 * @internal
 */
export function sharedTimers(clock: Clock): TimerQueue {
  let queue = queues.get(clock);
  if (queue === undefined) {
    queue = new TimerQueue(clock);
    queues.set(clock, queue);
  }
  return queue;
}

/**
 * Lets go of a clock's queue: its host timers are gone with the process that they belonged to.
 *
 * @internal
 */
export function dropSharedTimers(clock: Clock): void {
  queues.delete(clock);
}
