export type { Clock, ClockStep, ScheduleOptions } from "./clock.js";
export { sharedQueue } from "./shared-queue.js";
export { SteadyClock, type ClockHost } from "./steady-clock.js";
export { systemClock } from "./system-clock.js";
export { TimerQueue, type Alarm, type AlarmOwner, type TimerQueueOptions } from "./timer-queue.js";
