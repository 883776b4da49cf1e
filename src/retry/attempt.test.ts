import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Clock, ScheduleOptions } from "../clock/index.js";
import { VirtualClock } from "../testing/index.js";
import {
  BootstrapDeadlineError,
  BootstrapRetrier,
  exponentialBackoff,
  type BootstrapRetrierOptions,
} from "./index.js";

const refused = (): Error => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

let clock: VirtualClock;
/** How alarms were asked for. */
let asked: (ScheduleOptions | undefined)[];
beforeEach(() => {
  clock = new VirtualClock();
  asked = [];
});

function make(options: BootstrapRetrierOptions = {}): BootstrapRetrier {
  const watched: Clock = {
    now: () => clock.now(),
    schedule: (at, callback, how) => {
      asked.push(how);
      return clock.schedule(at, callback, how);
    },
  };
  return new BootstrapRetrier({
    clock: watched,
    backoff: exponentialBackoff({ jitter: "none" }),
    ...options,
  });
}

const after = (ms: number, act: () => void): void => void clock.schedule(clock.now() + ms, act);
const caught = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );

describe("the signal of an attempt", () => {
  it("is one, however often it is read", async () => {
    const signals = new Set<AbortSignal>();
    await make().run((context) => {
      signals.add(context.signal);
      signals.add(context.signal);
    });
    expect(signals.size).toBe(1);
  });

  it("is aborted already where it is first read after the attempt was given up", async () => {
    const reasons: unknown[] = [];
    const run = make({ attemptTimeoutMs: 100 }).run((context) => {
      if (context.attempt === 2) return "second";
      after(200, () => {
        reasons.push(context.signal.aborted, context.signal.reason);
      });
      return new Promise(() => undefined);
    });
    await clock.advanceAsync(2000);
    expect(await run).toBe("second");
    expect(reasons).toEqual([
      true,
      expect.objectContaining({
        name: "TimeoutError",
        message: "The attempt took longer than one attempt may",
      }),
    ]);
  });

  it("does not abort for an attempt that failed by itself, or succeeded", async () => {
    const signals: AbortSignal[] = [];
    const run = make().run(({ attempt, signal }) => {
      signals.push(signal);
      return attempt === 1 ? Promise.reject(refused()) : Promise.resolve("value");
    });
    await clock.advanceAsync(2000);
    expect(await run).toBe("value");
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  const expired = new Error("expired");
  type End = (caller: AbortController, deadline: AbortController) => void;
  it.each<[by: string, end: End, reason: unknown]>([
    ["the caller", (caller) => caller.abort("enough"), "enough"],
    ["the deadline's signal", (_, deadline) => deadline.abort(expired), expired],
    ["the deadline's time", () => clock.advance(5000), expect.any(BootstrapDeadlineError)],
  ])("says what ended the attempt: %s", async (_by, end, reason) => {
    const [caller, deadline] = [new AbortController(), new AbortController()];
    const endsAt = clock.now() + 5000;
    const retrier = make({
      signal: caller.signal,
      deadline: { signal: deadline.signal, remainingMs: () => endsAt - clock.now() },
    });
    let signal: AbortSignal | undefined;
    const run = caught(
      retrier.run((context) => {
        ({ signal } = context);
        return new Promise(() => undefined);
      }),
    );
    await clock.advanceAsync(10);
    end(caller, deadline);
    await run;
    expect([signal?.aborted, signal?.reason]).toEqual([true, reason]);
  });
});

describe("an attempt that was given up", () => {
  it("and fails later is no failure of the one that is under way by then", async () => {
    const retrier = make({ attemptTimeoutMs: 1000 });
    const run = retrier.run(({ attempt }) =>
      attempt === 1
        ? new Promise((_, reject) => after(2200, () => reject(refused())))
        : new Promise((resolve) => after(500, () => resolve("second"))),
    );
    // The second attempt takes from 2000 to 2500.
    await clock.advanceAsync(10_000);
    expect(await run).toBe("second");
    expect(retrier.status()).toMatchObject({ attempt: 2, counts: { transient: 1 } });
  });

  it("and gives a value later tells nobody where there is no hook for that", async () => {
    const onHookError = vi.fn();
    const run = make({ attemptTimeoutMs: 100, onHookError }).run(({ attempt }) =>
      attempt === 1 ? new Promise((resolve) => after(500, () => resolve("late"))) : "second",
    );
    await clock.advanceAsync(5000);
    expect(await run).toBe("second");
    expect(onHookError).not.toHaveBeenCalled();
  });
});

describe("what an operation returns", () => {
  it.each([
    ["text", "value"],
    ["number", 0],
    ["nothing", undefined],
    ["boolean", false],
  ])("needs no timer where it is there already: %s", async (_, value) => {
    expect(await make().run(() => value)).toBe(value);
    expect(asked).toEqual([]);
  });

  it.each([
    ["an object", { policy: 1 }],
    ["null", null],
    ["a function", () => 1],
    ["a promise", undefined],
  ])("is given as it is: %s", async (_, value) => {
    expect(await make().run(() => Promise.resolve(value))).toBe(value);
    expect(await make().run(() => value)).toBe(value);
  });

  it("is waited for as `await` does it, whatever somebody put in the place of its then", async () => {
    for (const then of [
      (resolve: (value: unknown) => void) => resolve("too soon"),
      () => {
        throw refused();
      },
    ]) {
      const promise = Object.assign(Promise.resolve("value"), { then });
      expect(await make().run(() => promise)).toBe("value");
    }
  });

  it("is a failure where it does not want to be looked at", async () => {
    const hostile = Object.defineProperty(Promise.resolve("value"), "constructor", {
      get() {
        throw refused();
      },
    });
    const retrier = make();
    const run = retrier.run(({ attempt }) => (attempt === 1 ? hostile : "second"));
    await clock.advanceAsync(2000);
    expect(await run).toBe("second");
    expect(retrier.status()).toMatchObject({ attempt: 2, firstError: { code: "ECONNREFUSED" } });
    expect(clock.timers).toBe(0);
  });
});

it("keeps the process alive while it waits", async () => {
  const run = make().run(({ attempt }) => (attempt === 1 ? Promise.reject(refused()) : "second"));
  await clock.advanceAsync(2000);
  expect(await run).toBe("second");
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.every((how) => how?.unref !== true)).toBe(true);
});
