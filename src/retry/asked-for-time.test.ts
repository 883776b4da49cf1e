import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../testing/index.js";
import { BootstrapRetrier, type RetryDeadline } from "./index.js";

let clock: VirtualClock;
let caller: AbortController;
beforeEach(() => {
  clock = new VirtualClock();
  caller = new AbortController();
});

/** A deadline whose owner finds, at one of the questions for its time, that the caller gave up. */
function givesUpAt(question: number, reason: unknown): RetryDeadline {
  let asked = 0;
  return {
    signal: new AbortController().signal,
    remainingMs: () => {
      asked += 1;
      if (asked === question) caller.abort(reason);
      // The attempt's alarm is set for the deadline, which is further away by the time that it rings.
      return asked < 4 ? 100 : 5000;
    },
  };
}

describe("a caller who gives up while a run asks for the time left", () => {
  const questions = [
    "before the run",
    "before the attempt",
    "for the alarm",
    "by the alarm",
    "for the next alarm",
  ];
  for (const [index, when] of questions.entries()) {
    for (const reason of [new Error("given up"), null]) {
      it(`${when}, with ${String(reason)}: the run rejects with that, and no timer is left`, async () => {
        const deadline = givesUpAt(index + 1, reason);
        const retrier = new BootstrapRetrier({ clock, deadline, signal: caller.signal });
        const ended = retrier
          .run(() => new Promise(() => undefined))
          .then(
            () => "a value",
            (error: unknown) => error,
          );
        await clock.advanceAsync(100);
        expect(retrier.status().state).toBe("cancelled");
        expect(await ended).toBe(reason);
        expect(clock.timers).toBe(0);
      });
    }
  }
});
