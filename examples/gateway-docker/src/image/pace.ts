import type { Clock } from "slipway";

/**
 * Lets news of each kind through at a pace: the first at once, then the latest of each interval. Nothing that was said
 * last is lost in silence.
 */
export class Pace<News> {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #tell: (kind: string, news: News) => void;
  readonly #kinds = new Map<string, { nextAt: number; held: News | null; alarm: Disposable | null }>();

  constructor(clock: Clock, everyMs: number, tell: (kind: string, news: News) => void) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#tell = tell;
  }

  /** @param atOnce - The kind's last word: told now, in place of what is held back. */
  push(kind: string, news: News, atOnce = false): void {
    const state = this.#kinds.get(kind) ?? { nextAt: 0, held: null, alarm: null };
    this.#kinds.set(kind, state);
    const now = this.#clock.now();
    if (!atOnce && now < state.nextAt) {
      state.held = news;
      state.alarm ??= this.#clock.schedule(state.nextAt, () => this.#release(kind));
      return;
    }
    this.#drop(state);
    state.nextAt = now + this.#everyMs;
    this.#tell(kind, news);
  }

  /** Forgets what is held back. */
  close(): void {
    for (const state of this.#kinds.values()) this.#drop(state);
  }

  #release(kind: string): void {
    const state = this.#kinds.get(kind);
    if (state === undefined || state.held === null) return;
    const news = state.held;
    this.#drop(state);
    this.push(kind, news, true);
  }

  #drop(state: { held: News | null; alarm: Disposable | null }): void {
    state.alarm?.[Symbol.dispose]();
    state.alarm = null;
    state.held = null;
  }
}
