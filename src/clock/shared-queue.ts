import type { Clock } from "./clock.js";
import { TimerQueue } from "./timer-queue.js";

interface Queues {
  ref?: TimerQueue;
  unref?: TimerQueue;
}

const queues = new WeakMap<object, Queues>();

/**
 * The queue that everything on one clock shares by default, so that any number of live objects hold one host timer. For the rooms of this
 * package: it is no part of the published surface.
 */
export function sharedQueue(clock: Clock, unref: boolean): TimerQueue {
  const key = clock.incarnation ?? clock;
  let shared = queues.get(key);
  if (shared === undefined) {
    shared = {};
    queues.set(key, shared);
  }
  if (unref) return (shared.unref ??= new TimerQueue(clock, { unref: true }));
  return (shared.ref ??= new TimerQueue(clock));
}
