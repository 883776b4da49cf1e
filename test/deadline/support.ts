import {
  applyDeadlineEvent,
  startAttempt,
  type DeadlineEvent,
  type DeadlineState,
  type PlanDefinition,
} from "../../src/deadline/index.js";
import type { DeadlineOutcome } from "../../src/deadline/index.js";

/** The tables' clock: seconds since the start of the scenario. */
export const T0 = 1_800_000_000_000;
export const sec = (seconds: number): number => T0 + Math.round(seconds * 1000);

/** Plan D1 of the scenario table: preparation 900 s, admission 300 s, ceiling 1500 s. */
export const D1: PlanDefinition = {
  phases: [
    { name: "prepare", budgetMs: 900_000, timeoutReason: "ImagePreparationTimedOut" },
    { name: "admission", budgetMs: 300_000, renewOn: "change", timeoutReason: "ProvisioningTimedOut" },
  ],
  ceilingMs: 1_500_000,
};

/** D1 with stall limits for the steps of the preparation. */
export const D2: PlanDefinition = {
  ...D1,
  phases: D1.phases.map((phase) =>
    phase.name === "prepare" ? { ...phase, stallMs: { download: 120_000, extract: 300_000 } } : phase,
  ),
};

export function started(
  plan: PlanDefinition,
  options: Partial<Parameters<typeof startAttempt>[1]> = {},
): DeadlineState {
  const result = startAttempt(plan, { attempt: "a1", now: T0, configuration: { generation: 1 }, ...options });
  if (result.state === undefined) throw new Error(`refused: ${result.refused}`);
  return result.state;
}

/** A deadline that is driven event by event, as a gateway does it inside its compare-and-swap. */
export class Driven {
  state: DeadlineState;
  readonly outcomes: DeadlineOutcome[] = [];

  constructor(state: DeadlineState) {
    this.state = state;
  }

  at(seconds: number, event: EventOf): DeadlineOutcome {
    const full = { attempt: this.state.attempt, ...event } as DeadlineEvent;
    const { state, outcome } = applyDeadlineEvent(this.state, full, sec(seconds));
    this.state = state;
    this.outcomes.push(outcome);
    return outcome;
  }
}

/** An event whose token is the state's own unless it is named. */
export type EventOf = DeadlineEvent extends infer E
  ? E extends DeadlineEvent
    ? Omit<E, "attempt"> & { attempt?: string | undefined }
    : never
  : never;
