import { checkMoment, checkObject, checkWord } from "./check-input.js";
import { isMarked } from "./evidence.js";
import type { SandboxRecord } from "./record.js";
import type { RecoveryResult, SweepOptions, SweepPlan } from "./sweep.js";
import { unmarked, type Transition } from "./transition.js";

/**
 * What a gateway does about a record when it shuts down: stops what runs, where it manages the lifecycle, and leaves
 * phase and intent, so that the intent to run survives.
 *
 * The plan's record says when the stop was asked for, so that the next start takes no end that the stop caused for a
 * result: write it before the call. A gateway that dies in between leaves a run that counts as stopped, whenever it
 * ends. How the call ended goes to {@link applyShutdown}. Close whatever looks at the backend first (a `Reconciler`): a
 * look that is applied in between records the end that it sees, and only a recovery takes that back.
 *
 * @throws {@link SlipwayError} `INVALID_OPTION` for no record or options, or no `now` in them.
 *
 * @example
 * ```ts
 * import { planShutdown } from "slipway/phase";
 *
 * const record = { phase: "Ready", desired: "running", since: 0 } as const;
 * planShutdown(record, { managesLifecycle: true, now: Date.now() }).call; // => "stop"
 * ```
 *
 * @public
 */
export function planShutdown(record: SandboxRecord, options: SweepOptions): SweepPlan {
  checkObject("record", record);
  checkMoment(options);
  const { managesLifecycle, now } = options;
  const runs =
    record.phase === "Provisioning" ||
    record.phase === "Starting" ||
    record.phase === "Ready" ||
    record.phase === "Unknown";
  const stops = managesLifecycle && runs;
  // What was asked to stop already may have ended since: the first time counts.
  const marks = stops && !isMarked(record);
  return {
    call: stops ? "stop" : null,
    record: marks ? { ...record, shutdownStopAt: now, updatedAt: now } : record,
    changed: marks,
    sessionCleanup: false,
  };
}

/**
 * The record after the stop that a shutdown asked for. One that failed takes back that it was asked for: what runs on
 * may end by itself, and such an end is a result, which is not replayed.
 *
 * @throws {@link SlipwayError} `INVALID_OPTION` for no record or options, no `now` in them, or an unknown result.
 *
 * @example
 * ```ts
 * import { applyShutdown, planShutdown } from "slipway/phase";
 *
 * const options = { managesLifecycle: true, now: Date.now() };
 * const { record } = planShutdown({ phase: "Ready", desired: "running", since: 0 }, options);
 * applyShutdown(record, "error", options).record.shutdownStopAt; // => null
 * ```
 *
 * @public
 */
export function applyShutdown(
  record: SandboxRecord,
  result: RecoveryResult,
  options: SweepOptions,
): Transition {
  checkObject("record", record);
  checkMoment(options);
  checkWord("result", result, "ok", "not-found", "error");
  const next = result === "error" ? unmarked(record, options.now) : record;
  return { record: next, changed: next !== record, refused: null };
}
