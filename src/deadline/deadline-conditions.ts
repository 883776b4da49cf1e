import { transitionTime, type Condition, type ConditionCause } from "../conditions/index.js";
import { checkDecoded } from "./decoded.js";
import { checkInstant } from "./instant.js";
import { expireIfDue } from "./settle.js";
import type { DeadlineState } from "./state.js";

/**
 * What the caller knows beyond the deadline itself.
 *
 * @public
 */
export interface DeadlineConditionsOptions {
  /** A more specific finding, such as a backend that no longer matches. It is added and replaces no reason. */
  readonly cause?: ConditionCause | undefined;
}

/**
 * The conditions a deadline accounts for, to be merged into a record's list with `setCondition`.
 *
 * While the attempt is active: `Ready=False` with the current phase as reason. When its deadline has come and nobody
 * has written the expiry yet: `ProvisioningDeadlineElapsed`, so that readiness which arrives just then is not
 * published. After the expiry: the phase's timeout reason. A completed or cancelled attempt states nothing.
 *
 * A cause is added only to an expiry in preparation, that is before the phase that admits configuration: from there
 * on the admitter's own diagnostic says what was wrong.
 *
 * @param now - Epoch milliseconds.
 *
 * @example
 * ```ts
 * import { applyDeadlineEvent, deadlineConditions, definePlan, startAttempt } from "slipway";
 *
 * const plan = definePlan({
 *   phases: [
 *     { name: "preparation", budgetMs: 1000, timeoutReason: "ImagePreparationTimedOut" },
 *     { name: "admission", budgetMs: 1000 },
 *   ],
 * });
 * const { state } = startAttempt(plan, { attempt: "a1", now: 0 });
 * if (state) {
 *   const expired = applyDeadlineEvent(state, { type: "tick" }, 1000).state;
 *   const cause = { reason: "IsolationBackendMismatch", message: "restore the selection" };
 *   deadlineConditions(expired, 1000, { cause })[0]?.reason; // => "ImagePreparationTimedOut"
 * }
 * ```
 *
 * @public
 */
export function deadlineConditions(
  state: DeadlineState,
  now: number,
  options: DeadlineConditionsOptions = {},
): readonly Condition[] {
  checkDecoded("deadline state", state);
  checkInstant("now", now);
  switch (state.status) {
    case "completed":
    case "cancelled":
      return [];
    case "expired":
      return [expired(state, options.cause)];
    case "active":
      return [
        expireIfDue(state, Math.max(now, state.observedAt)) === state ? underWay(state) : elapsed(state),
      ];
  }
}

function underWay(state: DeadlineState): Condition {
  return notReady(state, reasonOfPhase(state.phase), `${state.phase} is under way`);
}

function elapsed(state: DeadlineState): Condition {
  return notReady(state, "ProvisioningDeadlineElapsed", `the deadline of ${state.phase} has passed`);
}

function expired(state: DeadlineState, cause: ConditionCause | undefined): Condition {
  const condition = notReady(state, state.expiry?.reason ?? "", state.expiry?.message ?? "");
  return cause === undefined || !isPreparation(state) ? condition : { ...condition, cause };
}

/**
 * Whether the phase comes before admission: before the first phase that a change renews, and in a plan without one
 * before the last phase, or in the only one.
 */
function isPreparation(state: DeadlineState): boolean {
  const { phases } = state.plan;
  const admission = phases.findIndex((phase) => phase.renewOn === "change");
  const end = admission >= 0 ? admission : Math.max(phases.length - 1, 1);
  return phases.findIndex((phase) => phase.name === state.phase) < end;
}

/** The years that a transition time can carry: 1 to 9999. An attempt may have begun in another one. */
const FIRST_TIME = -62_135_596_800_000;
const LAST_TIME = 253_402_300_799_999;

/** Not ready since the attempt began, whatever reasons followed: the time moves with the status only. */
function notReady(state: DeadlineState, reason: string, message: string): Condition {
  return {
    type: "Ready",
    status: "False",
    reason,
    message,
    lastTransitionTime: transitionTime(Math.min(Math.max(state.startedAt, FIRST_TIME), LAST_TIME)),
  };
}

/** A phase name as a reason: `image-pull` becomes `ImagePull`. */
function reasonOfPhase(phase: string): string {
  const words = phase.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return /^[A-Z]/.test(joined) ? joined : `Phase${joined}`;
}
