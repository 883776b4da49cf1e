/** Whoever waits for a piece of work. */
export interface Waiter<News> {
  readonly signal: AbortSignal;
  /** @param waits - Whether the work is somebody else's, who has joined it before and is still there. */
  readonly tell: (news: News, waits: boolean) => void;
}

export type Work<Result, News> = (
  signal: AbortSignal,
  tell: (key: string, news: News) => void,
) => Promise<Result>;

interface Running<Result, News> {
  readonly done: Promise<Result>;
  readonly waiters: Set<Waiter<News>>;
  /** The last news of each kind, for whoever comes later. */
  readonly latest: Map<string, News>;
  readonly controller: AbortController;
}

/**
 * Work that several callers may wait for: it is done once, and given up when the last of them has left. It is the work of
 * whoever has waited longest, and all others only wait for it.
 */
export class SharedWork<Result, News> {
  readonly #running = new Map<string, Running<Result, News>>();

  /**
   * Joins the work of that name, or begins it. Rejects with the signal's reason at once when others still wait, and
   * after the work has ended when nobody does.
   */
  async join(name: string, waiter: Waiter<News>, work: Work<Result, News>): Promise<Result> {
    waiter.signal.throwIfAborted();
    const running = this.#running.get(name) ?? this.#begin(name, work);
    running.waiters.add(waiter);
    for (const news of running.latest.values()) waiter.tell(news, ownerOf(running) !== waiter);
    let leave = (): void => undefined;
    const left = new Promise<never>((_, reject) => {
      leave = (): void => {
        const owned = ownerOf(running) === waiter;
        running.waiters.delete(waiter);
        const owner = ownerOf(running);
        if (owner !== undefined) {
          // Nobody else's any more: who has it now is told where it stands.
          for (const news of owned ? running.latest.values() : []) owner.tell(news, false);
          reject(waiter.signal.reason as Error);
          return;
        }
        // From now on nobody may join what is being given up.
        if (this.#running.get(name) === running) this.#running.delete(name);
        running.controller.abort(waiter.signal.reason);
      };
      waiter.signal.addEventListener("abort", leave, { once: true });
    });
    try {
      return await Promise.race([running.done, left]);
    } catch (error) {
      // Work that was given up fails in its own words; whoever left has a better reason.
      waiter.signal.throwIfAborted();
      throw error;
    } finally {
      waiter.signal.removeEventListener("abort", leave);
      running.waiters.delete(waiter);
    }
  }

  #begin(name: string, work: Work<Result, News>): Running<Result, News> {
    const controller = new AbortController();
    const waiters = new Set<Waiter<News>>();
    const latest = new Map<string, News>();
    const tell = (key: string, news: News): void => {
      latest.set(key, news);
      for (const waiter of waiters) waiter.tell(news, ownerOf(running) !== waiter);
    };
    const end = (): void => {
      if (this.#running.get(name) === running) this.#running.delete(name);
    };
    const done = work(controller.signal, tell);
    done.then(end, end);
    const running: Running<Result, News> = { done, waiters, latest, controller };
    this.#running.set(name, running);
    return running;
  }
}

/** Sets keep the order in which they were filled. */
function ownerOf<Result, News>({ waiters }: Running<Result, News>): Waiter<News> | undefined {
  for (const waiter of waiters) return waiter;
  return undefined;
}
