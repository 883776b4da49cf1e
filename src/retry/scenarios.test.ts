import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seededRandom, VirtualClock } from "../testing/index.js";
import {
  BootstrapDeadlineError,
  BootstrapPermanentError,
  BootstrapRetrier,
  exponentialBackoff,
  transient,
  type AttemptContext,
  type BootstrapRetrierOptions,
  type RetryDeadline,
} from "./index.js";

/** The R table of scenarios.md: every row is a test here, named after it. */

const backoff = exponentialBackoff({ initialMs: 1000, factor: 2, capMs: 30_000, jitter: "none" });

const refused = (): Error =>
  Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:443"), { code: "ECONNREFUSED" });

const status = (code: number, details: string, metadata: Record<string, string> = {}): Error =>
  Object.assign(new Error(`${code}: ${details}`), {
    code,
    details,
    metadata: { get: (key: string) => (key in metadata ? [metadata[key]] : []) },
  });

const http = (code: number, headers: Record<string, string> = {}): Error =>
  Object.assign(new Error(`HTTP ${code}`), { status: code, headers: new Headers(headers) });

/** One run on a virtual clock, with the starts of its attempts in seconds. */
class Timeline {
  readonly clock = new VirtualClock();
  readonly zero = this.clock.now();
  readonly starts: number[] = [];
  readonly late: unknown[] = [];
  result: { value: unknown } | { error: unknown } | undefined;
  settledAt: number | undefined;
  retrier!: BootstrapRetrier;

  get seconds(): number {
    return (this.clock.now() - this.zero) / 1000;
  }

  run(
    operation: (seconds: number, context: AttemptContext) => unknown,
    options: BootstrapRetrierOptions = {},
  ): this {
    this.retrier = new BootstrapRetrier({
      clock: this.clock,
      backoff,
      onLateResult: (value) => this.late.push(value),
      ...options,
    });
    this.retrier
      .run((context) => {
        this.starts.push(this.seconds);
        return operation(this.seconds, context);
      })
      .then(
        (value) => this.#settle({ value }),
        (error: unknown) => this.#settle({ error }),
      );
    return this;
  }

  #settle(result: { value: unknown } | { error: unknown }): void {
    this.result = result;
    this.settledAt = this.seconds;
  }

  async until(seconds: number): Promise<void> {
    await this.clock.advanceAsync(Math.max(Math.round((seconds - this.seconds) * 1000), 0));
  }

  /** Resolves, or rejects, this many seconds of virtual time from now. */
  after<T>(seconds: number, settle: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.clock.schedule(this.clock.now() + seconds * 1000, () => {
        try {
          resolve(settle());
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
  }

  deadline(seconds: number): RetryDeadline & { readonly controller: AbortController } {
    const controller = new AbortController();
    const at = this.clock.now() + seconds * 1000;
    return { controller, signal: controller.signal, remainingMs: () => at - this.clock.now() };
  }

  get error(): unknown {
    return this.result !== undefined && "error" in this.result ? this.result.error : undefined;
  }
}

const failing = (error: () => unknown) => (): never => {
  throw error();
};
const never = (): Promise<never> => new Promise(() => undefined);

const unhandled: unknown[] = [];
const warnings: Error[] = [];
const onUnhandled = (reason: unknown): unknown => unhandled.push(reason);
const onWarning = (warning: Error): unknown => warnings.push(warning);

beforeAll(() => {
  process.on("unhandledRejection", onUnhandled);
  process.on("warning", onWarning);
});
afterAll(async () => {
  await new Promise(setImmediate);
  process.off("unhandledRejection", onUnhandled);
  process.off("warning", onWarning);
  expect(unhandled).toEqual([]);
  expect(warnings).toEqual([]);
});

describe("scenarios R", () => {
  it("R-01 outlives an outage beyond 11 s and 120 s", async () => {
    const line = new Timeline().run((at) => {
      if (at < 130) throw refused();
      return "policy";
    });
    await line.until(120);
    expect(line.result).toBeUndefined();
    await line.until(200);
    expect(line.starts).toEqual([0, 1, 3, 7, 15, 31, 61, 91, 121, 151]);
    expect(line.result).toEqual({ value: "policy" });
    expect(line.settledAt).toBe(151);
    expect(line.retrier.status()).toMatchObject({ attempt: 10, counts: { transient: 9 } });
    expect(line.clock.timers).toBe(0);
  });

  it("R-02 gives up as soon as the next wait would pass the deadline", async () => {
    const line = new Timeline();
    line.run(failing(refused), { deadline: line.deadline(300) });
    await line.until(400);
    expect(line.starts).toEqual([0, 1, 3, 7, 15, 31, 61, 91, 121, 151, 181, 211, 241, 271]);
    expect(line.settledAt).toBe(271);
    expect(line.error).toBeInstanceOf(BootstrapDeadlineError);
    expect(line.error).toMatchObject({ waitMs: 30_000, remainingMs: 29_000, hintMs: null });
    expect((line.error as BootstrapDeadlineError).cause).toMatchObject({ code: "ECONNREFUSED" });
    expect(line.clock.timers).toBe(0);
  });

  it("R-04 bounds hung attempts, and cuts the last one off at the deadline", async () => {
    const line = new Timeline();
    const cut: unknown[] = [];
    line.run(
      (_at, { signal }) => {
        signal.addEventListener("abort", () => cut.push(line.seconds));
        return never();
      },
      { deadline: line.deadline(60) },
    );
    await line.until(100);
    expect(line.starts).toEqual([0, 11, 23, 37, 55]);
    expect(cut).toEqual([10, 21, 33, 47, 60]);
    expect(line.settledAt).toBe(60);
    expect(line.error).toBeInstanceOf(BootstrapDeadlineError);
    expect((line.error as BootstrapDeadlineError).attempts.at(-1)).toMatchObject({
      attempt: 5,
      code: "DEADLINE",
      startedAt: line.zero + 55_000,
      endedAt: line.zero + 60_000,
    });
    expect(line.clock.timers).toBe(0);
  });

  it("R-06 settles at once when the attempt rejects with the aborted signal's reason", async () => {
    const controller = new AbortController();
    const line = new Timeline().run(
      (_at, { signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
      { signal: controller.signal, backoff: exponentialBackoff({ initialMs: 10_000, jitter: "none" }) },
    );
    await line.until(1);
    const reason = new Error("shutdown");
    controller.abort(reason);
    await line.until(30);
    expect(line.error).toBe(reason);
    expect(line.settledAt).toBe(1);
    expect(line.starts).toEqual([0]);
  });

  it("R-08 settles at once though the attempt ignores its signal, and discards the late value once", async () => {
    const controller = new AbortController();
    const line = new Timeline();
    line.run(() => line.after(8, () => "V"), { signal: controller.signal });
    await line.until(5);
    controller.abort("stop");
    await line.until(5.001);
    expect(line.error).toBe("stop");
    expect(line.settledAt).toBe(5);
    expect(line.late).toEqual([]);
    await line.until(30);
    expect(line.late).toEqual(["V"]);
    expect(line.starts).toEqual([0]);
  });

  it("R-08 (variant) leaves no unhandled rejection when the abandoned attempt rejects", async () => {
    const controller = new AbortController();
    const line = new Timeline();
    line.run(() => line.after(8, failing(refused)), { signal: controller.signal });
    await line.until(5);
    controller.abort("stop");
    await line.until(30);
    expect(line.error).toBe("stop");
    expect(line.late).toEqual([]);
  });

  it("R-10 does not call the operation on an aborted signal", async () => {
    const reason = { any: "thing" };
    const line = new Timeline().run(() => "V", { signal: AbortSignal.abort(reason) });
    await line.until(1);
    expect(line.starts).toEqual([]);
    expect(line.error).toBe(reason);
  });

  it("R-12 returns the value or discards it once, when an abort falls into its tick", async () => {
    for (const abortFirst of [true, false]) {
      const controller = new AbortController();
      const line = new Timeline();
      let resolve: (value: string) => void = () => undefined;
      line.run(() => new Promise((done) => (resolve = done)), { signal: controller.signal });
      await line.until(1);
      if (abortFirst) controller.abort("stop");
      resolve("V");
      if (!abortFirst) controller.abort("stop");
      await line.until(2);
      expect([line.result, line.late]).toEqual([{ error: "stop" }, ["V"]]);
    }
  });

  it("R-13 makes one attempt when the signal aborts, whatever error the operation makes of it", async () => {
    const controller = new AbortController();
    const line = new Timeline();
    const cause = new DOMException("timed out", "TimeoutError");
    line.run(
      (_at, { signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener("abort", () =>
            reject(Object.assign(new Error("aborted", { cause }), { name: "AbortError" })),
          ),
        ),
      { signal: controller.signal, maxAttempts: 4 },
    );
    await line.until(0.001);
    controller.abort(cause);
    await line.until(60);
    expect(line.starts).toEqual([0]);
    expect(line.settledAt).toBe(0.001);
    expect(line.error).toBe(cause);
  });

  it("R-15 aborts a wait at once and leaves no timer", async () => {
    const controller = new AbortController();
    const line = new Timeline().run(failing(refused), {
      signal: controller.signal,
      backoff: exponentialBackoff({ initialMs: 5000, jitter: "none" }),
    });
    await line.until(0.8);
    controller.abort("stop");
    await line.until(0.801);
    expect(line.settledAt).toBe(0.8);
    expect(line.clock.timers).toBe(0);
  });

  it("R-17 makes no attempt after an abort in the wait", async () => {
    const controller = new AbortController();
    const line = new Timeline().run(failing(refused), {
      signal: controller.signal,
      backoff: exponentialBackoff({ initialMs: 10_000, jitter: "none" }),
    });
    await line.until(3);
    controller.abort("stop");
    await line.until(30);
    expect(line.starts).toEqual([0]);
  });

  it("R-20 never overflows the wait", () => {
    for (const failures of [6, 25, 31, 32, 40, 58, 64, 65, 111, 1024, 1100, 5000])
      expect(backoff.delayMs(failures)).toBe(30_000);
  });

  it("R-22 spreads a thousand retriers at the cap", async () => {
    const clock = new VirtualClock();
    const random = seededRandom(22);
    const full = exponentialBackoff({ initialMs: 30_000, capMs: 30_000, jitter: "full" });
    const retriers = Array.from(
      { length: 1000 },
      () => new BootstrapRetrier({ clock, random, backoff: full }),
    );
    for (const retrier of retriers) void retrier.run(failing(refused));
    await clock.advanceAsync(0);
    const buckets = new Map<number, number>();
    for (const retrier of retriers) {
      const bucket = Math.floor((retrier.status().nextAttemptInMs ?? -1) / 100);
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
    }
    expect(Math.max(...buckets.values())).toBeLessThanOrEqual(20);
    expect(clock.timers).toBe(1);
  });

  it("R-25 takes Retry-After as a floor, and goes on with the backoff", async () => {
    const line = new Timeline().run((at, { attempt }) => {
      if (attempt === 1) throw http(429, { "Retry-After": "120" });
      if (attempt === 2) throw http(429);
      return at;
    });
    await line.until(200);
    expect(line.starts).toEqual([0, 120, 122]);
  });

  it("R-26 bounds a hint, and says so", async () => {
    const line = new Timeline().run((at, { attempt }) => {
      if (attempt === 1) throw http(503, { "Retry-After": "3600" });
      return at;
    });
    await line.until(400);
    expect(line.starts).toEqual([0, 300]);
    expect(line.retrier.status().firstError).toMatchObject({
      hintMs: 3_600_000,
      hintClamped: true,
      waitMs: 300_000,
    });
  });

  it.each([
    ["", 1],
    ["soon", 1],
    ["-5", 1],
    ["1.5", 1],
    ["NaN", 1],
    ["Infinity", 1],
    ["1e3", 1],
    ["0", 1],
    ["Thu, 14 Jan 2027 08:01:30 GMT", 1],
    ["Fri, 15 Jan 2027 08:01:30 GMT", 90],
  ])("R-28 reads the hint %j strictly", async (hint, second) => {
    const line = new Timeline().run((at, { attempt }) => {
      if (attempt === 1) throw http(429, { "Retry-After": hint });
      return at;
    });
    await line.until(100);
    expect(line.starts).toEqual([0, second]);
  });

  it("R-29 lets pushback replace the wait and restart the backoff", async () => {
    const line = new Timeline().run((at, { attempt }) => {
      if (attempt === 6) return at;
      throw status(14, "busy", attempt === 3 ? { "grpc-retry-pushback-ms": "5000" } : {});
    });
    await line.until(60);
    expect(line.starts).toEqual([0, 1, 3, 8, 9, 11]);
  });

  it.each(["-1", "soon", ""])("R-29 stops at the pushback %j", async (pushback) => {
    const line = new Timeline().run((_at, { attempt }) => {
      throw status(14, "busy", attempt === 2 ? { "grpc-retry-pushback-ms": pushback } : {});
    });
    await line.until(60);
    expect(line.starts).toEqual([0, 1]);
    expect(line.settledAt).toBe(1);
    expect(line.error).toBeInstanceOf(BootstrapPermanentError);
  });

  it("R-30 rejects at the deadline though the attempt ignores its signal", async () => {
    const line = new Timeline();
    line.run((_at, { attempt }) => (attempt < 4 ? failing(refused)() : line.after(5, failing(refused))), {
      deadline: line.deadline(10),
    });
    await line.until(100);
    expect(line.settledAt).toBe(10);
    expect(line.starts).toEqual([0, 1, 3, 7]);
  });

  it("R-31 ends at an authentication failure", async () => {
    const line = new Timeline().run((_at, { attempt }) => {
      throw status(attempt === 1 ? 14 : 16, "no");
    });
    await line.until(60);
    expect(line.settledAt).toBe(1);
    expect(line.error).toBeInstanceOf(BootstrapPermanentError);
    expect((line.error as BootstrapPermanentError).attempts).toHaveLength(2);
  });

  it("R-33 sees the certificate inside UNAVAILABLE", async () => {
    const details =
      "No connection established. Last error: Error: self-signed certificate in certificate chain";
    const line = new Timeline().run(failing(() => status(14, details)));
    await line.until(60);
    expect(line.starts).toEqual([0]);
    expect(line.error).toBeInstanceOf(BootstrapPermanentError);
    expect(line.retrier.status().lastError).toMatchObject({
      verdict: "permanent",
      code: "SELF_SIGNED_CERT_IN_CHAIN",
    });
  });

  it("R-36 starts the suspect budget anew after another failure", async () => {
    const line = new Timeline().run((at) => {
      throw status(at === 31 ? 14 : 13, "no");
    });
    await line.until(300);
    expect(line.starts).toEqual([0, 1, 3, 7, 15, 31, 61, 91, 121]);
    expect(line.settledAt).toBe(121);
    expect(line.error).toBeInstanceOf(BootstrapPermanentError);
  });

  it("R-38 does not restart the backoff for a connection that drops again", async () => {
    const line = new Timeline();
    line.run(() =>
      line.after(
        0.1,
        failing(() => Object.assign(new Error("reset"), { code: "ECONNRESET" })),
      ),
    );
    await line.until(16);
    expect(line.starts).toEqual([0, 1.1, 3.2, 7.3, 15.4]);
  });

  it("R-39 ends a wait early, at a distance from the last time", async () => {
    const line = new Timeline().run(failing(refused));
    await line.until(40);
    expect(line.retrier.retryNow()).toBe(true);
    await line.until(40.5);
    expect(line.retrier.retryNow()).toBe(true);
    expect(line.retrier.retryNow()).toBe(false);
    await line.until(72);
    expect(line.starts).toEqual([0, 1, 3, 7, 15, 31, 40, 41, 71]);
  });

  it("R-40 never lengthens a wait", async () => {
    const line = new Timeline().run(failing(refused));
    await line.until(0.1);
    line.retrier.retryNow();
    await line.until(0.2);
    expect(line.starts).toEqual([0, 0.1]);
    line.retrier.retryNow();
    await line.until(1.2);
    expect(line.starts).toEqual([0, 0.1, 1.1]);
  });

  it("R-45 shows what it waits for", async () => {
    const line = new Timeline().run(failing(refused));
    await line.until(40);
    expect(line.retrier.status()).toMatchObject({
      state: "waiting",
      attempt: 6,
      nextAttemptAt: line.zero + 61_000,
      nextAttemptInMs: 21_000,
      lastError: { code: "ECONNREFUSED", verdict: "transient" },
      elapsedMs: 40_000,
      remainingMs: Number.POSITIVE_INFINITY,
    });
    expect(line.retrier.status().sentence).toBe(
      "Bootstrap waits 21 s for attempt 7 after 40 s; last failure ECONNREFUSED (transient): connect ECONNREFUSED 10.0.0.1:443.",
    );
  });

  it.each([
    [45, [61, 91]],
    [80, [80, 110]],
  ])("R-46 goes on after a restart that ends at %i", async (back, expected) => {
    const line = new Timeline().run(failing(refused));
    await line.until(31);
    const stored: unknown = JSON.parse(JSON.stringify(line.retrier.snapshot()));
    await line.until(35);
    line.clock.restart((back - 35) * 1000);
    line.starts.length = 0;
    line.run(failing(refused), { restore: stored as ReturnType<BootstrapRetrier["snapshot"]> });
    await line.until(expected[1]! + 1);
    expect(line.starts).toEqual(expected);
    expect(line.retrier.status()).toMatchObject({ attempt: 8, elapsedMs: (expected[1]! + 1) * 1000 });
  });

  it("R-48 does not feel a clock that is set back", async () => {
    const line = new Timeline().run(failing(refused));
    await line.until(40);
    line.clock.stepWall(-3_600_000);
    await line.until(62);
    expect(line.starts.at(-1)).toBe(61);
  });

  it("R-53 rejects at the deadline, and never resolves", async () => {
    const line = new Timeline();
    const deadline = line.deadline(5);
    line.run(never, { deadline, attemptTimeoutMs: 60_000 });
    await line.until(4);
    deadline.controller.abort(new Error("expired"));
    await line.until(6);
    expect(line.settledAt).toBe(4);
    expect(line.error).toBeInstanceOf(BootstrapDeadlineError);
    expect(line.error).toMatchObject({ deadlineReason: { message: "expired" }, waitMs: null });
  });

  it("R-56 asks the embedder's classifier first", async () => {
    for (const [detail, starts] of [
      ["expired", [0, 1]],
      ["banned", [0]],
    ] as const) {
      const line = new Timeline().run(
        (_at, { attempt }) => {
          if (attempt === 2) return "policy";
          throw status(7, detail);
        },
        {
          classify: (error) =>
            (error as { details?: string }).details === "expired" ? { verdict: "transient" } : undefined,
        },
      );
      await line.until(60);
      expect(line.starts).toEqual(starts);
    }
  });

  it("R-60 is not kept alive by retryNow in every attempt", async () => {
    const controller = new AbortController();
    const line = new Timeline();
    const reason = Symbol("custom");
    line.run(
      () => {
        line.retrier.retryNow();
        throw transient(refused());
      },
      { signal: controller.signal },
    );
    line.retrier.on("waiting", () => line.retrier.retryNow());
    await line.until(3.5);
    expect(line.starts.length).toBeLessThanOrEqual(6);
    const calls = line.starts.length;
    controller.abort(reason);
    await line.until(60);
    expect(line.error).toBe(reason);
    expect(line.starts.length).toBe(calls);
    expect(line.clock.timers).toBe(0);
  });
});

it("covers every R row of the table", () => {
  const rows = readFileSync("test/fixtures/vectors/scenarios.md", "utf8").matchAll(/^\| (R-\d+) \|/gm);
  // R-52 is about recovery: sequence/bootstrap-sequence.test.ts.
  const source = `${readFileSync(import.meta.filename, "utf8")} R-52`;
  for (const [, id] of rows) expect(source).toContain(`${id!} `.trimEnd());
});
