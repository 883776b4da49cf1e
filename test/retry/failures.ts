import { afterEach, beforeEach, expect, vi } from "vitest";
import { exponentialBackoff } from "../../src/retry/index.js";

export const refused = (): Error =>
  Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
export const unauthenticated = (): Error => Object.assign(new Error("401"), { status: 401 });
export const backoff = exponentialBackoff({ jitter: "none" });
export const macrotask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
export const caught = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );

/** No test of the file that calls it may leave a rejection behind that nobody handled. */
export function expectNoRejections(): void {
  const unhandled = vi.fn();
  beforeEach(() => {
    process.on("unhandledRejection", unhandled);
  });
  afterEach(async () => {
    await macrotask();
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
}
