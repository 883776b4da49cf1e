import { applyDeadlineEvent } from "../../src/deadline/apply.js";
import type { DeadlineEvent } from "../../src/deadline/event.js";
import { startAttempt } from "../../src/deadline/start.js";
import type { DeadlineState } from "../../src/deadline/state.js";

export const attempt = "a1";
export const plan = {
  phases: [
    { name: "prepare", budgetMs: 1000, stallMs: { download: 100, extract: 300 } },
    { name: "admit", budgetMs: 500, renewOn: "change" as const },
    { name: "settle", budgetMs: 500 },
  ],
  ceilingMs: 5000,
  cleanupBudgetMs: 50,
};

export function fresh(phase?: string, definition: Parameters<typeof startAttempt>[0] = plan): DeadlineState {
  const configuration = { generation: 1, digest: "d1", committedAt: 0 };
  const { state } = startAttempt(definition, { attempt, now: 0, phase, configuration });
  if (state === undefined) throw new Error("refused");
  return state;
}

export type WithoutAttempt = DeadlineEvent extends infer E
  ? E extends DeadlineEvent
    ? Omit<E, "attempt">
    : never
  : never;

/** Applies events at their instants and returns the last state with all outcomes. */
export function run(state: DeadlineState, ...steps: readonly (readonly [number, WithoutAttempt])[]) {
  const outcomes = steps.map(([now, event]) => {
    const step = applyDeadlineEvent(state, { attempt, ...event } as DeadlineEvent, now);
    state = step.state;
    return step.outcome;
  });
  return { state, outcomes, last: outcomes.at(-1) };
}

export const why = (reason: string) => ({ applied: false, why: reason, changed: false });
