import { describe, expect, it } from "vitest";
import { expectQuiet, failing, refused, Timeline } from "../../test/retry/timeline.js";
import { exponentialBackoff } from "./index.js";

/** The rows of the R table that an abort ends. */

expectQuiet();

describe("scenarios R", () => {
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
});
