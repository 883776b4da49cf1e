import {
  applyDeadlineEvent,
  startAttempt,
  type DeadlineEvent,
  type DeadlineState,
  type PlanDefinition,
} from "../../src/deadline/index.js";

const attempt = "a1";

/** The state of an attempt, started at 0, after events at their instants. */
export function after(plan: PlanDefinition, ...steps: readonly (readonly [number, object])[]): DeadlineState {
  const start = startAttempt(plan, {
    attempt,
    now: 0,
    configuration: { generation: 1, digest: "d1", committedAt: 0 },
    parent: { deadlineAt: 9000 },
  });
  if (start.state === undefined) throw new Error("refused");
  return steps.reduce<DeadlineState>(
    (state, [now, event]) => applyDeadlineEvent(state, { attempt, ...event } as DeadlineEvent, now).state,
    start.state,
  );
}
