import { checkTracked } from "./check-tracked.js";
import { percentOf, positionOf, totalOf } from "./marks.js";
import { rateAt } from "./pace.js";
import type { TrackedStep, TrackerState } from "./state.js";

/**
 * Where a step stands at an instant.
 *
 * @public
 */
export interface StepReading {
  /** Name of the step. */
  readonly step: string;
  /** What the step is called once it is finished. */
  readonly label: string;
  /** What the step is called while it runs. */
  readonly activeLabel: string;
  /** What it works on. */
  readonly subject: string;
  /** The unit of position and total. */
  readonly unit: string;
  /** Whether it has begun, and whether it is over. */
  readonly status: "waiting" | "running" | "finished";
  /** Whether `status` is `finished`. */
  readonly finished: boolean;
  /** The sum over all parts, `null` while nothing was counted. Never cut to the total. */
  readonly position: number | null;
  /** `null` while unknown. An estimate may be below the position. */
  readonly total: number | null;
  /**
   * Whole per cent, only where a total is known: below 100 until the step itself is finished, 100 from then on. Where
   * the total is that of the parts, a live tracker reads `null` after a part appeared that makes the share smaller than
   * one that was read before, until that is reached again.
   */
  readonly percent: number | null;
  /** Units per second of late, `null` while there is none to tell and once the step is finished. */
  readonly perSecond: number | null;
  /** From when the step began until it finished, or until now. 0 while it waits. */
  readonly elapsedMs: number;
  /** Time since the step was last heard of, while it runs. 0 otherwise. */
  readonly quietMs: number;
  /** When it began, epoch milliseconds; `null` while it waits. */
  readonly startedAt: number | null;
  /** When it was finished, epoch milliseconds; `null` before. */
  readonly finishedAt: number | null;
}

/**
 * Where every step stands, in the order of the work.
 *
 * @param now - Epoch milliseconds. An instant below the state's `observedAt` counts as that.
 *
 * @throws {@link SlipwayError} `INVALID_STATE` for a state that was not decoded, `INVALID_INSTANT`.
 *
 * @example
 * ```ts
 * import { applyStepEvent, readSteps, startTracking } from "slipway/progress";
 *
 * const fresh = startTracking([{ step: "export", label: "Image exported", subject: "local-big:1" }], 0);
 * const report = { type: "report", step: "export", subject: "local-big:1", position: 25, total: 100 } as const;
 * const { state } = applyStepEvent(fresh, report, 0);
 * readSteps(state, 2000).map(({ percent, elapsedMs }) => ({ percent, elapsedMs })); // => [{ percent: 25, elapsedMs: 2000 }]
 * ```
 *
 * @public
 */
export function readSteps(state: TrackerState, now: number): readonly StepReading[] {
  checkTracked(state, now);
  const at = Math.max(now, state.observedAt);
  return state.steps.map((step) => readStep(step, at));
}

/** @internal */
export function readStep(step: TrackedStep, at: number): StepReading {
  const { startedAt, finishedAt, heardAt, marks } = step;
  const finished = finishedAt !== null;
  const running = startedAt !== null && !finished;
  const position = marks.some((mark) => mark.unit === null) ? positionOf(marks, null) : null;
  const total = totalOf(step);
  return {
    step: step.step,
    label: step.label,
    activeLabel: step.activeLabel,
    subject: step.subject,
    unit: step.unit,
    status: finished ? "finished" : running ? "running" : "waiting",
    finished,
    position,
    total,
    percent: finished ? (total === null ? null : 100) : startedAt === null ? null : percentOf(step),
    perSecond: running ? rateAt(step.pace, position ?? 0, at) : null,
    elapsedMs: startedAt === null ? 0 : (finishedAt ?? at) - startedAt,
    quietMs: running ? at - (heardAt ?? startedAt) : 0,
    startedAt,
    finishedAt,
  };
}

/**
 * The step to show where there is room for one: of those under way the one that was heard of last, and of equals the
 * later one.
 *
 * @internal
 */
export function liveliest(readings: readonly StepReading[]): StepReading | undefined {
  let latest: StepReading | undefined;
  for (const reading of readings) {
    if (reading.status !== "running") continue;
    if (latest === undefined || reading.quietMs <= latest.quietMs) latest = reading;
  }
  return latest;
}
