import type { DeadlineOutcome } from "../deadline/index.js";
import { hasMethod, invalid } from "../errors.js";
import { reportTo } from "../events/index.js";
import { progressOf } from "./deadline-feed.js";
import type { StepSign } from "./step-outcome.js";
import type { FeedOptions, ProgressSink } from "./tracker-options.js";

/** The deadlines that a tracker feeds. What one of them throws, or rejects with, stops neither the others nor the work. */
export class DeadlineFeeds {
  readonly #feeds = new Set<{ readonly sink: ProgressSink; readonly options: FeedOptions }>();
  readonly #onError: ((error: unknown) => void) | undefined;

  constructor(onError: ((error: unknown) => void) | undefined) {
    this.#onError = onError;
  }

  add(sink: ProgressSink, options: FeedOptions): Disposable {
    if (!hasMethod(sink, "progress"))
      throw invalid("INVALID_OPTION", "feed", "deadline", "a deadline", sink, typeof sink);
    const { phase } = options as { readonly phase: unknown };
    if (typeof phase !== "string" && typeof phase !== "function") {
      throw invalid("INVALID_OPTION", "feed", "phase", "a name or a function", phase);
    }
    const feed = { sink, options };
    this.#feeds.add(feed);
    return { [Symbol.dispose]: () => void this.#feeds.delete(feed) };
  }

  tell(sign: StepSign): void {
    for (const { sink, options } of this.#feeds) {
      try {
        const answer = sink.progress(progressOf(sign, options.phase));
        const heard = (outcome: DeadlineOutcome): void => options.onOutcome?.(outcome);
        if ("then" in answer) Promise.resolve(answer).then(heard).catch(this.#report);
        else heard(answer);
      } catch (error) {
        this.#report(error);
      }
    }
  }

  clear(): void {
    this.#feeds.clear();
  }

  readonly #report = (error: unknown): void => reportTo(this.#onError, error);
}
