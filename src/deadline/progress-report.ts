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
