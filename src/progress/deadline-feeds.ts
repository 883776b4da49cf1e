import type { DeadlineOutcome } from "../deadline/index.js";
import { hasMethod, invalid } from "../errors.js";
import { callHook, type OnError } from "../events/index.js";
import { progressOf } from "./deadline-feed.js";
import type { StepSign } from "./step-outcome.js";
import type { FeedOptions, ProgressSink } from "./tracker-options.js";

/** The deadlines that a tracker feeds. What one of them throws, or rejects with, stops neither the others nor the work. */
export class DeadlineFeeds {
  readonly #feeds = new Set<{ readonly sink: ProgressSink; readonly options: FeedOptions }>();
  readonly #onError: OnError;

  constructor(onError: OnError) {
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
      const heard = (outcome: DeadlineOutcome): unknown => options.onOutcome?.(outcome);
      const feed = (): unknown => {
        const answer = sink.progress(progressOf(sign, options.phase));
        return "then" in answer ? Promise.resolve(answer).then(heard) : heard(answer);
      };
      callHook(feed, undefined, this.#onError);
    }
  }

  clear(): void {
    this.#feeds.clear();
  }
}
