import { invalid, kindOf } from "../errors.js";
import type { ProgressEvent } from "./event.js";
import type { DeadlineState } from "./state.js";

/**
 * What the caller of a live deadline says about progress.
 *
 * @internal
 */
export type ProgressReport = Omit<ProgressEvent, "type" | "attempt" | "phase"> & {
  readonly phase?: string | undefined;
};

/** Refuses what is no report, before anything of it is looked at. @internal */
export function checkReport(report: unknown): void {
  if (typeof report !== "object" || report === null)
    throw invalid("INVALID_EVENT", "progress", "report", "an object", report, kindOf(report));
}

/** The event that a report stands for on this state. @internal */
export function progressOf(state: DeadlineState, report: ProgressReport): ProgressEvent {
  return {
    type: "progress",
    attempt: state.attempt,
    phase: report.phase ?? state.phase,
    step: report.step,
    part: report.part,
    position: report.position,
    run: report.run,
  };
}
