import { describe, expect, it } from "vitest";
import { parseConditions } from "../conditions/index.js";
import { VirtualClock } from "../testing/index.js";
import {
  BootstrapRetrier,
  permanent,
  type AttemptFailure,
  type BootstrapRetrierOptions,
  type RetrySnapshot,
} from "./index.js";

/** A retrier whose only attempt threw `error`. */
async function failed(error: unknown, options: BootstrapRetrierOptions = {}): Promise<BootstrapRetrier> {
  const retrier = new BootstrapRetrier({ clock: new VirtualClock(), maxAttempts: 1, ...options });
  const attempt = (): never => {
    throw error;
  };
  await retrier.run(attempt).catch(() => undefined);
  return retrier;
}

describe("the texts of a failure", () => {
  const long = "x".repeat(1e6);
  const textsOf = ({ code, kind, explanation, message }: AttemptFailure): string[] => [
    code,
    kind,
    explanation,
    message,
  ];

  it.each([
    ["message", { message: long }],
    ["details", { details: long }],
    ["name", { name: long }],
    ["code", { code: long }],
    ["a symbol", Symbol(long)],
    ["a text", long],
  ])("are bounded, whatever carries a long one: %s", async (_where, error) => {
    const { lastError } = (await failed(error)).status();
    expect(lastError).not.toBeNull();
    for (const text of textsOf(lastError!)) expect(text.length).toBeLessThanOrEqual(500);
  });

  it("are bounded where the embedder's classifier gives them", async () => {
    const answer = { verdict: "permanent", code: long, explanation: long, kind: long as "unknown" } as const;
    const { lastError } = (await failed(new Error("x"), { classify: () => answer })).status();
    expect(textsOf(lastError!).map((text) => text.length)).toEqual([500, 500, 500, 1]);
  });
});

describe("the cause of a condition", () => {
  it.each([
    ["22003", "Reason_22003"],
    ["", "NoReasonReported"],
    ["503 Service", "Reason_503_Service"],
    ["ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE", "ERR_SSL_SSL_TLS_ALERT_BAD_CERTIFICATE"],
    ["ECONNREFUSED", "ECONNREFUSED"],
  ])("has a reason that a condition may have: %j", async (code, reason) => {
    const condition = (await failed(Object.assign(new Error("no"), { code }))).toCondition();
    expect(condition.cause).toMatchObject({ reason });
    expect(parseConditions([condition])).toEqual([condition]);
  });
});

describe("a run at one instant", () => {
  const refused = (): Error => Object.assign(new Error("no"), { code: "ECONNREFUSED" });
  const lastly = "; last failure ECONNREFUSED (transient): no.";
  /** A retrier on a clock of its own, with what its operation throws, or `undefined` for a success. */
  const running = (errors: readonly (Error | "hangs")[], options: BootstrapRetrierOptions = {}) => {
    const clock = new VirtualClock();
    const retrier = new BootstrapRetrier({ clock, random: () => 0.5, ...options });
    const left = [...errors];
    const operation = (): Promise<unknown> => {
      const error = left.shift();
      if (error === "hangs") return new Promise(() => undefined);
      return error === undefined ? Promise.resolve(1) : Promise.reject(error);
    };
    const began = clock.now();
    retrier.run(operation).catch(() => undefined);
    return { clock, retrier, began };
  };
  /** As another process reads it. */
  const reread = (retrier: BootstrapRetrier, changes: Partial<RetrySnapshot> = {}): BootstrapRetrier => {
    const stored = JSON.parse(JSON.stringify(retrier.snapshot())) as RetrySnapshot;
    return new BootstrapRetrier({ clock: new VirtualClock(), restore: { ...stored, ...changes } });
  };

  it("before it began has no instants", () => {
    const retrier = new BootstrapRetrier({ clock: new VirtualClock() });
    expect(retrier.status()).toMatchObject({
      state: "idle",
      outcome: null,
      attempt: 0,
      startedAt: null,
      nextAttemptAt: null,
      nextAttemptInMs: null,
      firstError: null,
      lastError: null,
      history: [],
      omitted: 0,
      elapsedMs: 0,
      remainingMs: Number.POSITIVE_INFINITY,
      sentence: "Bootstrap has not started.",
    });
    expect(retrier.toCondition()).not.toHaveProperty("cause");
  });

  it("tells what is left of its deadline", async () => {
    const deadline = { remainingMs: () => 12_340, signal: new AbortController().signal };
    const { clock, retrier } = running([refused(), "hangs"], { deadline });
    await clock.advanceAsync(0);
    const { sentence, nextAttemptInMs } = retrier.status();
    expect(nextAttemptInMs).toBeGreaterThan(0);
    expect(sentence).toMatch(
      /^Bootstrap waits [\d.]+ s for attempt 2 after 0 s, 12\.3 s left; last failure /,
    );
    await clock.advanceAsync(nextAttemptInMs as number);
    expect(retrier.status().sentence).toMatch(
      /^Bootstrap attempt 2 is under way after [\d.]+ s, 12\.3 s left; /,
    );
  });

  it("in an attempt waits for nothing", async () => {
    const { clock, retrier, began } = running(["hangs"]);
    await clock.advanceAsync(1_500);
    expect(retrier.status()).toMatchObject({
      state: "attempting",
      startedAt: began,
      nextAttemptAt: null,
      nextAttemptInMs: null,
      elapsedMs: 1_500,
      sentence: "Bootstrap attempt 1 is under way after 1.5 s.",
    });
  });

  it("that refreshes credentials is in the attempt that this follows, as is its condition", async () => {
    const refresh = (): Promise<void> => new Promise(() => undefined);
    const { clock, retrier } = running([Object.assign(new Error("401"), { status: 401 })], { refresh });
    await clock.advanceAsync(0);
    expect(retrier.status()).toMatchObject({ state: "attempting", nextAttemptAt: null, attempt: 1 });
    expect(retrier.status().sentence).toContain("Bootstrap attempt 1 is under way");
    expect(retrier.toCondition().reason).toBe("BootstrapInProgress");
  });

  it("is over with a success, at the instant of its end", async () => {
    const { clock, retrier, began } = running([refused()]);
    await clock.advanceAsync(60_000);
    const { elapsedMs } = retrier.status();
    const sentence = `Bootstrap succeeded on attempt 2 after ${Math.round(elapsedMs / 100) / 10} s.`;
    expect(elapsedMs).toBeGreaterThan(0);
    expect(elapsedMs).toBeLessThan(60_000);
    expect(retrier.status()).toMatchObject({ state: "succeeded", outcome: "succeeded", sentence });
    const condition = retrier.toCondition();
    expect(condition).toMatchObject({ status: "True", message: sentence });
    expect(condition).not.toHaveProperty("cause");
    expect(Date.parse(condition.lastTransitionTime)).toBe(Math.floor((began + elapsedMs) / 1000) * 1000);
  });

  it("was cancelled by its caller, before its first attempt or in a later one", async () => {
    const early = running(["hangs"], { signal: AbortSignal.abort("no") });
    await early.clock.advanceAsync(0);
    expect(early.retrier.status()).toMatchObject({
      state: "cancelled",
      outcome: "cancelled",
      sentence: "Bootstrap was cancelled after 0 attempts and 0 s.",
    });
    const controller = new AbortController();
    const { clock, retrier, began } = running([refused(), "hangs"], { signal: controller.signal });
    await clock.advanceAsync(5_000);
    controller.abort("no");
    await clock.advanceAsync(5_000);
    expect(retrier.status()).toMatchObject({ outcome: "cancelled", elapsedMs: 5_000 });
    expect(retrier.status().sentence).toMatch(
      /^Bootstrap was cancelled after 2 attempts and 5 s; last failure CANCELLED \(cancelled\): /,
    );
    // It is not there yet since it began.
    const since = Date.parse(retrier.toCondition().lastTransitionTime);
    expect(since).toBe(Math.floor(began / 1000) * 1000);
  });

  it("failed for good, and another process knows as much", async () => {
    const { clock, retrier } = running([permanent(refused())]);
    await clock.advanceAsync(0);
    const sentence =
      "Bootstrap failed after 1 attempt and 0 s: the failure is permanent; last failure ECONNREFUSED (permanent): no.";
    for (const each of [retrier, reread(retrier)])
      expect(each.status()).toMatchObject({ state: "failed", attempt: 1, outcome: "permanent", sentence });
    expect(retrier.toCondition()).toMatchObject({
      status: "False",
      reason: "BootstrapFailed",
      message: sentence,
    });
  });

  it("failed because something suspect did not pass", async () => {
    const odd = (): Error => new Error("odd");
    const suspect = { attempts: 1, forMs: 0 };
    const { clock, retrier } = running([odd(), odd(), odd()], { suspect });
    await clock.advanceAsync(60_000);
    expect(retrier.status().outcome).toBe("permanent");
    for (const each of [retrier, reread(retrier)])
      expect(each.status().sentence).toContain(": a suspect failure did not pass; last failure ");
  });

  it("failed because no more attempts were allowed", async () => {
    const { clock, retrier } = running([refused(), refused()], { maxAttempts: 2 });
    await clock.advanceAsync(60_000);
    expect(retrier.status()).toMatchObject({ state: "failed", outcome: "exhausted" });
    expect(retrier.status().sentence).toMatch(
      /^Bootstrap failed after 2 attempts and [\d.]+ s: 2 were allowed; /,
    );
    expect(retrier.toCondition().reason).toBe("BootstrapAttemptsExhausted");
    const other = reread(retrier);
    expect(other.status().sentence).toContain(`: no more attempts were allowed${lastly}`);
    expect(other.toCondition().reason).toBe("BootstrapAttemptsExhausted");
  });

  it("failed because the next attempt would have come after the deadline", async () => {
    const deadline = { remainingMs: () => 10, signal: new AbortController().signal };
    const { clock, retrier } = running([refused()], { deadline, backoff: { delayMs: () => 2_000 } });
    await clock.advanceAsync(0);
    expect(retrier.status()).toMatchObject({
      state: "failed",
      outcome: "deadline",
      sentence: `Bootstrap failed after 1 attempt and 0 s: the next attempt was due in 2 s, the deadline in 0 s${lastly}`,
    });
    expect(retrier.toCondition().reason).toBe("BootstrapDeadlineExceeded");
    expect(reread(retrier).status().sentence).toContain(`: the deadline passed${lastly}`);
  });

  it("failed because the deadline passed", async () => {
    const controller = new AbortController();
    const deadline = { remainingMs: () => 10_000, signal: controller.signal };
    const { clock, retrier } = running(["hangs"], { deadline });
    await clock.advanceAsync(700);
    controller.abort();
    await clock.advanceAsync(0);
    expect(retrier.status().sentence).toMatch(
      /^Bootstrap failed after 1 attempt and 0\.7 s: the deadline passed; last failure DEADLINE \(cancelled\): /,
    );
  });

  it("failed because its embedder's backoff threw, which no attempt mends", async () => {
    const backoff = {
      delayMs: (): number => {
        throw new Error("broken");
      },
    };
    const { clock, retrier } = running([refused()], { backoff });
    await clock.advanceAsync(0);
    expect(retrier.status()).toMatchObject({ state: "failed", outcome: "permanent" });
    expect(retrier.status().sentence).toContain(": the retrier was misused");
    // Another process knows only that it was final.
    expect(reread(retrier).status().sentence).toContain(": the failure is permanent");
  });
});
