import { SteadyClock, type ClockHost } from "./steady-clock.js";

interface HostProcess {
  readonly platform?: string;
  getBuiltinModule?(name: string): { uptime(): number } | undefined;
}

interface UnrefableTimer {
  unref?(): void;
}

const host: ClockHost = {
  // Looked up at each call, so that a test that fakes the globals later still works.
  monoMs: () => performance.now(),
  wallMs: () => Date.now(),
  bootMs: bootReading(),
  startTimer(delayMs, callback, unref) {
    const timer = setTimeout(callback, delayMs);
    if (unref) (timer as UnrefableTimer).unref?.();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

/**
 * Linux alone needs the boot clock: its monotonic clock stands still in suspend, while those of macOS and Windows
 * go on. Read without an import, so that this file also loads where there is no Node.
 */
function bootReading(): () => number | null {
  const { process } = globalThis as { process?: HostProcess };
  const os = process?.platform === "linux" ? process.getBuiltinModule?.("node:os") : undefined;
  return os === undefined ? () => null : () => os.uptime() * 1000;
}

/**
 * The host's clock: steps of the wall clock do not count, suspended time does.
 *
 * @example
 * ```ts
 * import { systemClock } from "slipway";
 *
 * using alarm = systemClock.schedule(systemClock.now() + 50, () => console.log("later"));
 * ```
 *
 * @public
 */
export const systemClock: SteadyClock = new SteadyClock(host);
