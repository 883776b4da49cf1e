import { beforeEach, describe, expect, it, vi } from "vitest";
import { backoff, caught, expectNoRejections, refused, unauthenticated } from "../../test/retry/failures.js";
import { VirtualClock } from "../testing/index.js";
import { BootstrapPermanentError, BootstrapRetrier, type BootstrapRetrierOptions } from "./index.js";

expectNoRejections();

let clock: VirtualClock;

beforeEach(() => {
  clock = new VirtualClock();
});

const make = (options: BootstrapRetrierOptions = {}): BootstrapRetrier =>
  new BootstrapRetrier({ clock, backoff, ...options });

describe("refresh", () => {
  it("is made once per run, after an authentication failure only", async () => {
    const refresh = vi.fn(() => Promise.resolve());
    const retrier = make({ refresh });
    const run = caught(
      retrier.run(({ attempt }) => {
        if (attempt === 1) throw refused();
        throw unauthenticated();
      }),
    );
    await clock.advanceAsync(60_000);
    expect(await run).toBeInstanceOf(BootstrapPermanentError);
    expect(refresh).toHaveBeenCalledTimes(1);
    expect(retrier.status()).toMatchObject({ attempt: 3, counts: { permanent: 2, transient: 1 } });
  });

  it("heals, and goes on at once", async () => {
    const retrier = make({ refresh: ({ error }) => expect(error).toEqual(unauthenticated()) });
    const run = retrier.run(({ attempt }) => {
      if (attempt === 1) throw unauthenticated();
      return attempt;
    });
    await clock.advanceAsync(1);
    expect(await run).toBe(2);
  });

  it.each([
    ["rejects", () => Promise.reject(new Error("no token"))],
    [
      "throws",
      () => {
        throw new Error("no token");
      },
    ],
    ["hangs", () => new Promise(() => undefined)],
  ])("that %s leaves the failure permanent", async (_name, refresh) => {
    const run = caught(make({ refresh }).run(() => Promise.reject(unauthenticated())));
    await clock.advanceAsync(20_000);
    const error = (await run) as BootstrapPermanentError;
    expect(error).toBeInstanceOf(BootstrapPermanentError);
    expect(error.refreshError).toBeInstanceOf(Error);
    expect(error.cause).toEqual(unauthenticated());
    expect(clock.timers).toBe(0);
  });

  it("is aborted with the run", async () => {
    const controller = new AbortController();
    const aborted = vi.fn();
    const refresh = ({ signal }: { signal: AbortSignal }): Promise<never> => {
      signal.addEventListener("abort", aborted);
      return new Promise(() => undefined);
    };
    const run = caught(
      make({ refresh, signal: controller.signal }).run(() => Promise.reject(unauthenticated())),
    );
    await clock.advanceAsync(10);
    controller.abort(null);
    expect(await run).toBeNull();
    expect(aborted).toHaveBeenCalledTimes(1);
    expect(clock.timers).toBe(0);
  });
});
