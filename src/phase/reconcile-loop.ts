import type { Clock } from "../clock/index.js";
import type { Limiter } from "./keyed-lock.js";
import type { WatchEvent } from "./ports.js";
import type { ResolvedReconcilerOptions } from "./reconciler-options.js";
import type { ReconcileOutcome, SweepReport } from "./reconcile-outcome.js";

/** What the loop drives. */
interface Looker {
  reconcile(id: string): Promise<ReconcileOutcome>;
  deleted(id: string): Promise<ReconcileOutcome>;
  sweep(): Promise<SweepReport>;
}

/**
 * Watch plus sweep: news are looked into at once, a sweep finds what the watch missed, and a backend that fails is
 * asked again after a wait that doubles.
 *
 * @internal
 */
export class ReconcileLoop {
  /** Settles once the signal has aborted and everything under way has ended. Never rejects. */
  readonly done: Promise<void>;
  readonly #options: ResolvedReconcilerOptions;
  readonly #looker: Looker;
  readonly #limiter: Limiter;
  readonly #signal: AbortSignal;
  readonly #pending = new Set<Promise<unknown>>();
  /** News by sandbox that are being looked into: the latest that no look has begun for, `null` for none. */
  readonly #news = new Map<string, WatchEvent["type"] | null>();

  constructor(options: ResolvedReconcilerOptions, looker: Looker, limiter: Limiter, signal: AbortSignal) {
    this.#options = options;
    this.#looker = looker;
    this.#limiter = limiter;
    this.#signal = signal;
    this.done = Promise.all([this.#sweeps(), this.#watches()]).then(() => this.#drain());
  }

  async #sweeps(): Promise<void> {
    let failures = 0;
    while (!this.#signal.aborted) {
      const failed = await this.#sweepFailed();
      failures = failed ? failures + 1 : 0;
      const wait = failed
        ? Math.min(this.#backoff(failures), this.#options.sweepEveryMs)
        : this.#options.sweepEveryMs;
      await pause(this.#options.clock, wait, this.#signal);
    }
  }

  async #sweepFailed(): Promise<boolean> {
    try {
      const { complete, outcomes, error } = await this.#looker.sweep();
      if (!complete) this.#failed(error);
      return !complete || outcomes.some(({ outcome }) => outcome === "failed");
    } catch (error) {
      // The store does not answer: nothing was lost, and the next sweep starts over.
      this.#failed(error);
      return true;
    }
  }

  async #watches(): Promise<void> {
    let failures = 0;
    while (!this.#signal.aborted) {
      const news = await this.#watch();
      failures = news > 0 ? 1 : failures + 1;
      await pause(this.#options.clock, this.#backoff(failures), this.#signal);
    }
  }

  /** Follows one stream to its end, however it ends; the number of events that came. */
  async #watch(): Promise<number> {
    let news = 0;
    try {
      for await (const event of this.#options.source.watch(this.#signal)) {
        if (this.#signal.aborted) break;
        news += 1;
        this.#follow(event);
      }
    } catch (error) {
      // A broken stream is opened again; what it lost is the sweep's to find.
      this.#failed(error);
    }
    return news;
  }

  /** However many news of one sandbox come while its look waits or runs, one more look answers them all. */
  #follow({ type, id }: WatchEvent): void {
    const isFollowed = this.#news.has(id);
    this.#news.set(id, type);
    if (isFollowed) return;
    const looks = this.#lookUntilQuiet(id);
    this.#pending.add(looks);
    void looks.then(() => this.#pending.delete(looks));
  }

  async #lookUntilQuiet(id: string): Promise<void> {
    while ((this.#news.get(id) ?? null) !== null) {
      await this.#limiter.run(() => this.#look(id)).catch((error: unknown) => this.#failed(error));
    }
    this.#news.delete(id);
  }

  #look(id: string): Promise<ReconcileOutcome> {
    const type = this.#news.get(id);
    this.#news.set(id, null);
    return type === "deleted" ? this.#looker.deleted(id) : this.#looker.reconcile(id);
  }

  /** Whoever closes breaks off what is under way, which is no failure. */
  #failed(error: unknown): void {
    if (!this.#signal.aborted) this.#options.failed(error);
  }

  async #drain(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #backoff(failures: number): number {
    const { retryInitialMs, retryCapMs } = this.#options;
    return Math.min(retryInitialMs * 2 ** Math.min(failures - 1, 30), retryCapMs);
  }
}

/** Waits on the clock; ends early, without an error, when the signal aborts. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const due = clock.now() + ms;
    let alarm = clock.schedule(due, wake);
    signal.addEventListener("abort", end, { once: true });

    function wake(): void {
      // Host timers fire up to a millisecond early.
      if (clock.now() < due) alarm = clock.schedule(due, wake);
      else end();
    }
    function end(): void {
      signal.removeEventListener("abort", end);
      alarm[Symbol.dispose]();
      resolve();
    }
  });
}
