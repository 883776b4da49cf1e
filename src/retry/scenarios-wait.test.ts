import { describe, expect, it } from "vitest";
import { backoff, expectQuiet, failing, http, refused, status, Timeline } from "../../test/retry/timeline.js";
import { seededRandom, VirtualClock } from "../testing/index.js";
import { BootstrapPermanentError, BootstrapRetrier, exponentialBackoff, transient } from "./index.js";

/** The rows of the R table that are about the waits between attempts. */

expectQuiet();

describe("scenarios R", () => {
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
