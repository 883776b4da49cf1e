import { describe, expect, it } from "vitest";
import { applyDeadlineEvent } from "./apply.js";
import type { ProgressEvent, RejectEvent } from "./event.js";
import { startAttempt } from "./start.js";

const plan = { phases: [{ name: "admit", budgetMs: 500, renewOn: "change" as const }] };

/** What an expiry says for people, after one event at 10 ms. */
function messageAfter(event?: ProgressEvent | RejectEvent): string {
  const { state } = startAttempt(plan, { attempt: "a1", now: 0, configuration: { generation: 3 } });
  if (state === undefined) throw new Error("refused");
  const step = event === undefined ? null : applyDeadlineEvent(state, event, 10);
  if (step !== null) expect(step.outcome.applied).toBe(true);
  return applyDeadlineEvent(step?.state ?? state, { type: "tick" }, 10_000).state.expiry?.message ?? "";
}

const progress = (rest: Partial<ProgressEvent>): ProgressEvent => ({
  type: "progress",
  attempt: "a1",
  phase: "admit",
  ...rest,
});

const window = (end: string) => `admit did not finish within its window, which ended ${end} after it began`;

describe("the message of an expiry", () => {
  it("is the bound alone where nothing was heard", () => {
    expect(messageAfter()).toBe(window("0.5 s"));
  });

  it.each([
    ["a step, a part and a position", { step: "pull", part: "layer 1", position: 7 }, "in pull layer 1 at 7"],
    ["a step and a position", { step: "pull", position: 0 }, "in pull at 0"],
    ["a step alone", { step: "pull" }, "in pull"],
    ["a part alone", { part: "layer 1" }, "in layer 1"],
    ["a position alone", { position: 7 }, "at 7"],
  ])("names the last progress: %s", (_, report, expected) => {
    expect(messageAfter(progress(report))).toBe(`${window("0.5 s")}; last progress ${expected}`);
  });

  it("does not speak of a sign of life that names nothing", () => {
    expect(messageAfter(progress({}))).toBe(window("0.5 s"));
  });

  it.each([
    ["with reason and message", { reason: "Bad", message: "port 0" }, ": Bad: port 0"],
    ["with a reason", { reason: "Bad", message: "" }, ": Bad"],
    ["with a message", { reason: null, message: "port 0" }, ": port 0"],
    ["without a word", {}, ""],
  ])("names a rejection %s", (_, diagnostic, expected) => {
    const reject = { type: "reject", attempt: "a1", generation: 3, ...diagnostic } as RejectEvent;
    expect(messageAfter(reject)).toBe(
      `${window("0.51 s")}; configuration generation 3 was rejected${expected}`,
    );
  });
});
