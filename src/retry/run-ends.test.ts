import { beforeEach, describe, expect, it, vi } from "vitest";
import { InMemoryActivationLedger, VirtualClock } from "../testing/index.js";
import {
  BootstrapRetrier,
  bootstrapSequence,
  exponentialBackoff,
  type BootstrapRetrierOptions,
  type RetryDeadline,
} from "./index.js";

const refused = (): Error => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

let clock: VirtualClock;
let left: number;
beforeEach(() => {
  clock = new VirtualClock();
  left = 1e9;
});

/** A deadline that says what is left, and rings for nobody. */
const deadline: RetryDeadline = { remainingMs: () => left, signal: new AbortController().signal };
const make = (options: BootstrapRetrierOptions = {}): BootstrapRetrier =>
  new BootstrapRetrier({ clock, backoff: exponentialBackoff({ jitter: "none" }), ...options });
const caught = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );

/** A run that has failed once and waits for another second. */
async function waiting() {
  const retrier = make();
  retrier.run(() => Promise.reject(refused())).catch(() => undefined);
  await clock.advanceAsync(0);
  return retrier.snapshot();
}

describe("the deadline", () => {
  it("allows no attempt that is due after it, though nobody rang meanwhile", async () => {
    const operation = vi.fn(() => Promise.reject(refused()));
    const retrier = make({ deadline });
    const run = caught(retrier.run(operation));
    await clock.advanceAsync(500);
    left = 0;
    await clock.advanceAsync(500);
    expect(await run).toMatchObject({ code: "BOOTSTRAP_DEADLINE", cause: { code: "ECONNREFUSED" } });
    expect(operation).toHaveBeenCalledTimes(1);
    expect(retrier.status()).toMatchObject({ state: "failed", attempt: 1 });
    expect(clock.timers).toBe(0);
  });

  it("that passed while no process ran is the end, and not the wait that was planned", async () => {
    const restore = await waiting();
    left = 0;
    expect(await caught(make({ restore, deadline, maxAttempts: 1 }).run(() => "value"))).toMatchObject({
      code: "BOOTSTRAP_DEADLINE",
      waitMs: null,
      message: "Bootstrap ended: The deadline passed; last failure: ECONNREFUSED",
    });
  });

  it("leaves no time for a planned attempt that is due when it passes", async () => {
    const restore = await waiting();
    left = 1000;
    expect(await caught(make({ restore, deadline }).run(() => "value"))).toMatchObject({
      code: "BOOTSTRAP_DEADLINE",
      waitMs: 1000,
      remainingMs: 1000,
    });
    left = 1001;
    const run = make({ restore, deadline }).run(() => "value");
    await clock.advanceAsync(1000);
    expect(await run).toBe("value");
  });
});

describe("a run that is over", () => {
  it.each(["succeeded", "failed"] as const)("and was restored as it %s is not run again", async (state) => {
    const retrier = make({ maxAttempts: 1 });
    await caught(retrier.run(() => (state === "failed" ? Promise.reject(refused()) : "value")));
    const operation = vi.fn();
    expect(await caught(make({ restore: retrier.snapshot() }).run(operation))).toMatchObject({
      code: "INVALID_STATE",
      message: `The restored run has ${state}: a new one is a new retrier`,
      field: "restore.state",
      value: state,
    });
    expect(operation).not.toHaveBeenCalled();
  });

  it("ended as the first that ended it, whatever a hook throws after it", async () => {
    const controller = new AbortController();
    const settled: string[] = [];
    const delayMs = (): never => {
      controller.abort("stop");
      throw new Error("a mistake");
    };
    const retrier = make({ signal: controller.signal, backoff: { delayMs } });
    retrier.on("settled", ({ state }) => settled.push(state));
    expect(await caught(retrier.run(() => Promise.reject(refused())))).toBe("stop");
    expect(settled).toEqual(["cancelled"]);
  });

  it("takes no retryNow, also as a part of a bootstrap that goes on", async () => {
    const retrier = make();
    const answers: boolean[] = [];
    await bootstrapSequence({
      instanceId: "i-1",
      steps: [{ name: "policy", run: () => 1 }],
      activate: () => answers.push(retrier.retryNow()),
      ledger: new InMemoryActivationLedger(),
      retrier,
    });
    expect(answers).toEqual([false]);
  });

  it("by a backoff that throws is over with what that threw, and at once", async () => {
    const mistake = new TypeError("delayMs is broken");
    const delayMs = (): never => {
      throw mistake;
    };
    const retrier = make({ backoff: { delayMs } });
    const run = caught(retrier.run(() => Promise.reject(refused())));
    expect(await run).toBe(mistake);
    expect(retrier.status()).toMatchObject({ state: "failed", attempt: 1 });
    expect(clock.timers).toBe(0);
  });
});

describe("a permanent failure", () => {
  const endedBy = (thrown: unknown): Promise<unknown> =>
    caught(make().run(() => Promise.reject(thrown as Error)));

  it.each([
    [
      "what the error says",
      () => new RangeError("precision out of range"),
      "RangeError: precision out of range. ",
    ],
    [
      "an answer as it was thrown",
      () => new Response(null, { status: 403, statusText: "Forbidden" }),
      "HTTP_403: HTTP 403 Forbidden. ",
    ],
    ["an answer without words", () => new Response(null, { status: 401 }), "HTTP_401: HTTP 401. "],
  ])("ends with %s, and why that is permanent", async (_, thrown, said) => {
    const error = (await endedBy(thrown())) as Error;
    expect(error.message).toContain(`Bootstrap failure is permanent: ${said}`);
    expect(error.message.length).toBeGreaterThan(`Bootstrap failure is permanent: ${said}`.length);
  });
});
