import { afterAll, beforeAll, expect } from "vitest";
import { VirtualClock } from "../../src/testing/index.js";
import {
  BootstrapRetrier,
  exponentialBackoff,
  type AttemptContext,
  type BootstrapRetrierOptions,
  type RetryDeadline,
} from "../../src/retry/index.js";

export const backoff = exponentialBackoff({ initialMs: 1000, factor: 2, capMs: 30_000, jitter: "none" });

export const refused = (): Error =>
  Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:443"), { code: "ECONNREFUSED" });

export const status = (code: number, details: string, metadata: Record<string, string> = {}): Error =>
  Object.assign(new Error(`${code}: ${details}`), {
    code,
    details,
    metadata: { get: (key: string) => (key in metadata ? [metadata[key]] : []) },
  });

export const http = (code: number, headers: Record<string, string> = {}): Error =>
  Object.assign(new Error(`HTTP ${code}`), { status: code, headers: new Headers(headers) });

/** One run on a virtual clock, with the starts of its attempts in seconds. */
export class Timeline {
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

export const failing = (error: () => unknown) => (): never => {
  throw error();
};
export const never = (): Promise<never> => new Promise(() => undefined);

/** No scenario of the file that calls it may leave a rejection behind that nobody handled, or warn of anything. */
export function expectQuiet(): void {
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
}
