import { beforeEach, describe, expect, it, vi } from "vitest";
import { backoff, caught, expectNoRejections, refused, unauthenticated } from "../../test/retry/failures.js";
import type { SlipwayError } from "../errors.js";
import { VirtualClock } from "../testing/index.js";
import {
  BootstrapDeadlineError,
  BootstrapExhaustedError,
  BootstrapRetrier,
  type BootstrapRetrierOptions,
  type RetrySnapshot,
} from "./index.js";

expectNoRejections();

let clock: VirtualClock;

beforeEach(() => {
  clock = new VirtualClock();
});

const make = (options: BootstrapRetrierOptions = {}): BootstrapRetrier =>
  new BootstrapRetrier({ clock, backoff, ...options });

describe("snapshots", () => {
  const at = async (seconds: number): Promise<RetrySnapshot> => {
    const retrier = make();
    retrier.run(() => Promise.reject(refused())).catch(() => undefined);
    await clock.advanceAsync(seconds * 1000);
    return JSON.parse(JSON.stringify(retrier.snapshot())) as RetrySnapshot;
  };

  it("survive JSON and a restore unchanged", async () => {
    const stored = await at(40);
    expect(make({ restore: stored }).snapshot()).toEqual(stored);
  });

  it("of a run that was cancelled in a refresh can be read again", async () => {
    const controller = new AbortController();
    const late = vi.fn();
    const refresh = (): Promise<string> =>
      new Promise((done) => clock.schedule(clock.now() + 50, () => done("token")));
    const retrier = make({ refresh, signal: controller.signal, onLateResult: late });
    const run = caught(retrier.run(() => Promise.reject(unauthenticated())));
    await clock.advanceAsync(10);
    expect(make({ restore: retrier.snapshot() }).status().state).toBe("waiting");
    controller.abort("stop");
    expect(await run).toBe("stop");
    expect(make({ restore: retrier.snapshot() }).status().counts.permanent).toBe(1);
    await clock.advanceAsync(100);
    expect(late).not.toHaveBeenCalled();
  });

  describe("of a refresh that was cut off", () => {
    const cutOff: Record<string, (controller: AbortController, retrier: BootstrapRetrier) => void> = {
      "by a crash": () => undefined,
      "by the caller": (controller) => clock.schedule(clock.now() + 5, () => controller.abort("stop")),
      "by a listener, before it began": (controller, retrier) =>
        retrier.on("failure", () => controller.abort("stop")),
    };

    it.each(Object.keys(cutOff))("%s let it be made again, after a wait", async (how) => {
      const controller = new AbortController();
      const retrier = make({ refresh: () => new Promise(() => undefined), signal: controller.signal });
      cutOff[how]?.(controller, retrier);
      retrier.run(() => Promise.reject(unauthenticated())).catch(() => undefined);
      await clock.advanceAsync(10);

      const refresh = vi.fn();
      const attempts: number[] = [];
      const run = make({ restore: retrier.snapshot(), refresh }).run(({ attempt }) => {
        attempts.push(attempt);
        if (refresh.mock.calls.length === 0) throw unauthenticated();
        return "in";
      });
      await clock.advanceAsync(500);
      expect(attempts).toEqual([]);
      await clock.advanceAsync(60_000);
      expect(await run).toBe("in");
      expect([attempts, refresh.mock.calls.length]).toEqual([[2, 3], 1]);
    });
  });

  it("that lie at the end of time are waited for within it", () => {
    const far = {
      ...make().snapshot(),
      state: "waiting",
      startedAt: 0,
      attempts: 1,
      attemptStartedAt: 0,
    } as const;
    const late = new VirtualClock({ startAt: 8_640_000_000_000_000 - 5 });
    const next = make({ clock: late, restore: { ...far, nextAttemptAt: Number.MAX_SAFE_INTEGER } });
    expect(next.snapshot().nextAttemptAt).toBe(8_640_000_000_000_000);
  });

  it("can be read under a clock that begins at zero, and written again", async () => {
    const stored = await at(40);
    clock = new VirtualClock({ startAt: 5 });
    const next = make({ restore: stored });
    next.run(() => Promise.reject(refused())).catch(() => undefined);
    expect(next.status()).toMatchObject({ state: "waiting", nextAttemptInMs: 21_000 });
    expect(make({ restore: next.snapshot() }).status().attempt).toBe(6);
  });

  it("keep the time that was left under a clock that was set back, never more", async () => {
    const stored = await at(40);
    clock.stepWall(-3_600_000);
    clock.restart(0);
    const starts: number[] = [];
    const zero = clock.now();
    make({ restore: stored })
      .run(() => {
        starts.push(clock.now() - zero);
        throw refused();
      })
      .catch(() => undefined);
    await clock.advanceAsync(52_000);
    expect(starts).toEqual([21_000, 51_000]);
  });

  it("count an attempt that the process died in as a failure, so that a crash loop waits as well", async () => {
    const retrier = make();
    void retrier.run(() => new Promise(() => undefined));
    const stored = retrier.snapshot();
    clock.restart(100);
    const starts: number[] = [];
    const next = make({ restore: stored });
    void next.run(() => starts.push(clock.now() - stored.observedAt));
    await clock.advanceAsync(2000);
    expect(starts).toEqual([1000]);
    expect(next.status().history).toMatchObject([{ attempt: 1, code: "INTERRUPTED" }]);
  });

  it("of a cancelled run go on where it stood, of one that is over do not", async () => {
    const controller = new AbortController();
    const retrier = make({ signal: controller.signal });
    const run = caught(retrier.run(() => Promise.reject(refused())));
    await clock.advanceAsync(500);
    controller.abort("shutdown");
    await run;
    const next = make({ restore: retrier.snapshot() });
    const resumed = next.run(() => "value");
    expect(next.status()).toMatchObject({ state: "waiting", nextAttemptInMs: 500 });
    await clock.advanceAsync(500);
    expect(await resumed).toBe("value");
    const over = make({ restore: next.snapshot() });
    expect(await caught(over.run(() => "again"))).toMatchObject({ code: "INVALID_STATE" });
  });

  it("do not bring a limit back to life", async () => {
    const stored = await at(40);
    expect(await caught(make({ restore: stored, maxAttempts: 6 }).run(() => 1))).toBeInstanceOf(
      BootstrapExhaustedError,
    );
    const deadline = { signal: new AbortController().signal, remainingMs: () => 20_000 };
    const error = await caught(make({ restore: stored, deadline }).run(() => 1));
    expect(error).toBeInstanceOf(BootstrapDeadlineError);
    expect(error).toMatchObject({ waitMs: 21_000, remainingMs: 20_000 });
  });

  it("that promise a wait of years are cut to the longest wait there is", async () => {
    const stored = { ...(await at(40)), nextAttemptAt: 9_000_000_000_000_000 };
    const next = make({ restore: stored });
    next.run(() => 1).catch(() => undefined);
    expect(next.status().nextAttemptInMs).toBe(300_000);
  });

  it("are refused when a field is missing, hostile or contradicts another", async () => {
    const stored = await at(40);
    const broken: unknown[] = [
      null,
      [],
      "text",
      {},
      { ...stored, schemaVersion: 2 },
      { ...stored, state: "waiting", nextAttemptAt: null },
    ];
    for (const field of Object.keys(stored)) {
      broken.push({ ...stored, [field]: undefined }, { ...stored, [field]: -1 }, { ...stored, [field]: {} });
      broken.push({ ...stored, [field]: Number.NaN }, { ...stored, [field]: "9" });
    }
    broken.push(
      { ...stored, observedAt: 0 },
      { ...stored, attempts: 2 },
      { ...stored, suspects: 3 },
      { ...stored, history: [{}] },
    );
    for (const restore of broken)
      expect(() => make({ restore: restore as RetrySnapshot }), JSON.stringify(restore)).toThrow(
        expect.toSatisfy((error: SlipwayError) =>
          ["INVALID_STATE", "UNSUPPORTED_SCHEMA_VERSION"].includes(error.code),
        ),
      );
  });
});
