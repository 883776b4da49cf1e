import { describe, expect, it } from "vitest";
import { systemClock } from "./system-clock.js";

describe("the system clock", () => {
  it("reads the host's clocks", () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(Number.isSafeInteger(now)).toBe(true);
    expect(Math.abs(now - before)).toBeLessThan(60_000);
    expect(systemClock.now()).toBeGreaterThanOrEqual(now);
  });

  it("arms a host timer that can be cancelled, and can let the process exit", () => {
    const alarm = systemClock.schedule(systemClock.now() + 3_600_000, () => {}, { unref: true });
    alarm[Symbol.dispose]();
    const { promise, resolve } = ((): { promise: Promise<void>; resolve: () => void } => {
      let resolve = (): void => {};
      const promise = new Promise<void>((done) => (resolve = done));
      return { promise, resolve };
    })();
    systemClock.schedule(systemClock.now(), resolve);
    return promise;
  });
});
