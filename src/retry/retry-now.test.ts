import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../testing/index.js";
import { BootstrapRetrier, exponentialBackoff, type BootstrapRetrierOptions } from "./index.js";

const refused = (): Error => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const unauthenticated = (): Error => Object.assign(new Error("401"), { status: 401 });

let clock: VirtualClock;
let zero: number;
/** When attempts began, in milliseconds from the start. */
let starts: number[];
beforeEach(() => {
  clock = new VirtualClock();
  zero = clock.now();
  starts = [];
});

const make = (options: BootstrapRetrierOptions = {}): BootstrapRetrier =>
  new BootstrapRetrier({ clock, backoff: exponentialBackoff({ jitter: "none" }), ...options });

/** Fails after so many milliseconds. */
const failsAfter = (ms: number) => (): Promise<never> => {
  starts.push(clock.now() - zero);
  return new Promise((_, reject) => {
    clock.schedule(clock.now() + ms, () => {
      reject(refused());
    });
  });
};

function run(retrier: BootstrapRetrier, operation: () => unknown): void {
  retrier.run(operation).catch(() => undefined);
}

describe("retryNow during an attempt", () => {
  it("is kept for the wait after it, and for that one only", async () => {
    const retrier = make();
    run(retrier, failsAfter(500));
    await clock.advanceAsync(100);
    expect(retrier.retryNow()).toBe(true);
    await clock.advanceAsync(5000);
    // The waits would be 1 s and 2 s. The first one is cut short to the least that a timer takes, the second is not.
    expect(starts).toEqual([0, 501, 3001]);
  });

  it("keeps its distance from the one before", async () => {
    const retrier = make();
    run(retrier, failsAfter(300));
    for (let call = 0; call < 4; call += 1) {
      await clock.advanceAsync(100);
      retrier.retryNow();
    }
    await clock.advanceAsync(2000);
    // Asked for at 100 and 200, for the wait at 300; at 400, in the second attempt, for a second after that.
    expect(starts).toEqual([0, 301, 1300]);
  });

  it("says that the next attempt may come sooner also while credentials are renewed", async () => {
    const retrier = make({ refresh: () => new Promise(() => undefined) });
    run(retrier, () => Promise.reject(unauthenticated()));
    await clock.advanceAsync(10);
    expect(retrier.retryNow()).toBe(true);
  });
});

describe("retryNow in a wait", () => {
  it("that has just begun leaves the host a turn before the next attempt", async () => {
    const retrier = make();
    run(retrier, () => {
      starts.push(clock.now() - zero);
      return Promise.reject(refused());
    });
    // The wait has begun, and no time has passed.
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
    expect(retrier.status().state).toBe("waiting");
    expect(retrier.retryNow()).toBe(true);
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
    expect(starts).toEqual([0]);
    await clock.advanceAsync(1);
    expect(starts).toEqual([0, 1]);
  });

  it("ends it without a timer when time has passed", async () => {
    const retrier = make();
    run(retrier, failsAfter(0));
    await clock.advanceAsync(400);
    expect(retrier.retryNow()).toBe(true);
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
    expect(starts).toEqual([0, 400]);
  });
});

describe("retryNow after the end", () => {
  it.each([
    ["succeeded", () => "value"],
    ["failed", () => Promise.reject(unauthenticated())],
  ])("does nothing: the run %s", async (state, operation) => {
    const retrier = make();
    run(retrier, operation);
    await clock.advanceAsync(10);
    expect([retrier.status().state, retrier.retryNow()]).toEqual([state, false]);
  });
});
