import type { ProgressEvent } from "../deadline/index.js";
import type { StepOutcome, StepSign } from "./step-outcome.js";

/** Which attempt, and which phase of its deadline, the steps belong to. */
export interface DeadlineAddress {
  /** The attempt's fencing token. */
  readonly attempt: string;
  /** The deadline's phase, or a function that tells it for each step. */
  readonly phase: string | ((step: string) => string);
}

/**
 * The `progress` event by which a deadline learns what became of a step event, `null` when there is no news for it.
 *
 * A deadline gets the step's whole position, which only rises, and never the parts: the two agree on what progress is,
 * and a thousand parts are one mark there. A foreign unit is a mark of its own, under the unit's name. `run` is left
 * out before the first that was named.
 *
 * @example
 * ```ts
 * import { applyDeadlineEvent, definePlan, startAttempt } from "slipway/deadline";
 * import { applyStepEvent, deadlineProgress, startTracking } from "slipway/progress";
 *
 * const plan = definePlan({ phases: [{ name: "preparation", budgetMs: 900_000, stallMs: 120_000 }] });
 * const { state: deadline } = startAttempt(plan, { attempt: "a1", now: 0 });
 * const steps = startTracking([{ step: "export", label: "Image exported", subject: "local-big:1" }], 0);
 * const report = { type: "report", step: "export", subject: "local-big:1", position: 4096 } as const;
 * const { outcome } = applyStepEvent(steps, report, 60_000);
 * const event = deadlineProgress(outcome, { attempt: "a1", phase: "preparation" });
 * if (deadline && event) applyDeadlineEvent(deadline, event, 60_000).state.stallEndsAt; // => 180000
 * ```
 *
 * @public
 */
export function deadlineProgress(outcome: StepOutcome, address: DeadlineAddress): ProgressEvent | null {
  if (!outcome.applied || outcome.sign === null) return null;
  return { type: "progress", attempt: address.attempt, ...progressOf(outcome.sign, address.phase) };
}

/** What a sign says to a deadline that knows its own attempt. */
export type SignProgress = Omit<ProgressEvent, "type" | "attempt">;

/** @internal */
export function progressOf(sign: StepSign, phase: DeadlineAddress["phase"]): SignProgress {
  return {
    phase: typeof phase === "function" ? phase(sign.step) : phase,
    step: sign.step,
    part: sign.part ?? undefined,
    position: sign.position,
    run: sign.run === 0 ? undefined : sign.run,
  };
}
