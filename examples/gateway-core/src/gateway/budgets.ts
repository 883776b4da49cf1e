import { definePlan, type DeadlinePlan } from "slipway";
import { InvalidInputError } from "../input-error.js";
import type { BudgetOverrides } from "../record/record.js";

/** What this gateway grants to every attempt. */
export interface Budgets {
  readonly preparationMs: number;
  /**
   * The longest that waits for somebody else's work may draw preparation out, all together. They are on no budget, so
   * they need room of their own. Default: `preparationMs`, one whole preparation of another sandbox.
   */
  readonly waitMs?: number | undefined;
  readonly admissionMs: number;
  /** The longest that repeated repairs may draw admission out. */
  readonly admissionCeilingMs: number;
  /** The longest silence of a preparation; absent means that silence is no fault. */
  readonly stallMs?: number | undefined;
  readonly cleanupMs: number;
}

export const DEFAULT_BUDGETS: Budgets = {
  preparationMs: 30 * 60_000,
  admissionMs: 5 * 60_000,
  admissionCeilingMs: 60 * 60_000,
  stallMs: 2 * 60_000,
  cleanupMs: 30_000,
};

export const PREPARATION = "preparation";
export const ADMISSION = "admission";

/**
 * The plan of one attempt: preparation with a fixed budget, then admission, whose window a real change of the
 * configuration, or the first rejection of one, opens anew. Neither takes time from the other, and waiting takes none
 * from either: each phase has a ceiling, and the attempt's is both together.
 */
export function planFor(budgets: Budgets, overrides: BudgetOverrides): DeadlinePlan {
  const preparationMs = overrides.preparationMs ?? budgets.preparationMs;
  const admissionMs = overrides.admissionMs ?? budgets.admissionMs;
  // Another sandbox may take the gateway's own budget, however little this one asked for.
  const preparationCeilingMs = preparationMs + (budgets.waitMs ?? budgets.preparationMs);
  const stallMs = overrides.stallMs ?? budgets.stallMs;
  return definePlan({
    phases: [
      {
        name: PREPARATION,
        budgetMs: preparationMs,
        ceilingMs: preparationCeilingMs,
        stallMs: stallMs === undefined ? undefined : Math.min(stallMs, preparationMs),
        timeoutReason: "ImagePreparationTimedOut",
      },
      {
        name: ADMISSION,
        budgetMs: admissionMs,
        renewOn: "change",
        ceilingMs: budgets.admissionCeilingMs,
        timeoutReason: "ProvisioningTimedOut",
      },
    ],
    ceilingMs: preparationCeilingMs + budgets.admissionCeilingMs,
    cleanupBudgetMs: budgets.cleanupMs,
    observeEveryMs: observationOf(Math.min(preparationMs, admissionMs)),
  });
}

/**
 * How old the recorded time of an attempt may get: it is what a clock that is set back between two runs of the
 * gateway can give back, so a small part of the shortest budget.
 */
function observationOf(budgetMs: number): number {
  return Math.min(Math.max(Math.floor(budgetMs / 20), 500), 15_000);
}

/** A request may take less than the gateway grants, never more: the limits protect everybody on this machine. */
export function checkOverrides(budgets: Budgets, overrides: BudgetOverrides): void {
  for (const field of ["preparationMs", "admissionMs", "stallMs"] as const) {
    const asked = overrides[field];
    const granted = budgets[field];
    if (asked !== undefined && granted !== undefined && asked > granted) {
      throw new InvalidInputError(`budgets.${field}`, `at most ${granted}, this gateway's own`, asked);
    }
  }
}
