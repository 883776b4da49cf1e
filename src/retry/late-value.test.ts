import { beforeEach, describe, expect, it, vi } from "vitest";
import { VirtualClock } from "../testing/index.js";
import {
  BootstrapDeadlineError,
  BootstrapRetrier,
  type BootstrapRetrierOptions,
  type RetryDeadline,
} from "./index.js";

const caught = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );

let left: number;
let late: unknown[];
let clock: VirtualClock;
beforeEach(() => {
  left = 1000;
  late = [];
  clock = new VirtualClock();
});

/** A deadline that passes while no timer fires, as in a host that was busy. */
const deadline: RetryDeadline = { remainingMs: () => left, signal: new AbortController().signal };

const make = (options: BootstrapRetrierOptions = {}): BootstrapRetrier =>
  new BootstrapRetrier({ clock, deadline, onLateResult: (value) => late.push(value), ...options });

describe("a value after the deadline, before its timer fired", () => {
  it.each([
    ["plain", () => "value"],
    ["promised", () => Promise.resolve("value")],
  ])("is refused and handed to onLateResult: %s, in the first attempt", async (_, give) => {
    const retrier = make();
    const run = retrier.run(({ signal }) => {
      expect(signal.aborted).toBe(false);
      left = 0;
      return give();
    });
    expect(await caught(run)).toBeInstanceOf(BootstrapDeadlineError);
    expect(late).toEqual(["value"]);
    expect(retrier.status()).toMatchObject({ state: "failed" });
    expect(clock.timers).toBe(0);
  });

  it.each([
    ["plain", () => "value"],
    ["promised", () => Promise.resolve("value")],
  ])("is refused and handed to onLateResult: %s, in a later attempt", async (_, give) => {
    const retrier = make({ backoff: { delayMs: () => 10 } });
    let signal: AbortSignal | undefined;
    const run = caught(
      retrier.run((context) => {
        if (context.attempt === 1) throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
        ({ signal } = context);
        left = -5;
        return give();
      }),
    );
    await clock.advanceAsync(10);
    expect(await run).toBeInstanceOf(BootstrapDeadlineError);
    expect(late).toEqual(["value"]);
    expect(signal?.aborted).toBe(true);
    expect(clock.timers).toBe(0);
  });

  it("of a refresh ends the run, and is nobody's late result", async () => {
    const operation = vi.fn(() => Promise.reject(Object.assign(new Error("401"), { status: 401 })));
    const retrier = make({
      refresh: () => {
        left = 0;
        return "token";
      },
    });
    expect(await caught(retrier.run(operation))).toBeInstanceOf(BootstrapDeadlineError);
    expect([operation.mock.calls.length, late]).toEqual([1, []]);
  });

  it("is taken when it comes before", async () => {
    const run = make().run(() => {
      left = 1;
      return "value";
    });
    expect(await run).toBe("value");
    expect(late).toEqual([]);
  });
});
