import { currentPhase } from "./bounds.js";
import { isName } from "./check-event.js";
import { MAX_STEPS } from "./limits.js";
import { applyProgress, findMark, isAbove, isPosition } from "./progress.js";
import { progressOf, type ProgressReport } from "./progress-report.js";
import type { DeadlineState } from "./state.js";

/**
 * Reports that raised one mark and are in no state yet. Reports come by the thousand, and a state is looked at now
 * and then: it is made when somebody looks. Over 50 000 deadlines a report costs XXX that way, and YYY with a
 * state of its own.
 *
 * It decides nothing that {@link applyProgress} would not, and makes the state by it.
 *
 * @internal
 */
export class PendingProgress {
  #step: string | null = null;
  #part: string | null = null;
  #position: number | null = null;
  #at = 0;
  #times = 0;

  /** The number of reports, each of which is a version of the state. */
  get times(): number {
    return this.#times;
  }

  /**
   * What {@link applyProgress} would say to a report of the present phase and run, `undefined` where it has to be
   * asked.
   *
   * @param state - Active, not paused by the clock: nothing of it is due at the instant of the report.
   */
  judge(state: DeadlineState, report: ProgressReport): "duplicate" | "raises" | undefined {
    if ((report.phase ?? state.phase) !== state.phase || (report.run ?? state.run) !== state.run)
      return undefined;
    const step = report.step ?? null;
    const part = report.part ?? null;
    const position = report.position ?? null;
    if (position !== null && !isPosition(position)) return undefined;
    if (this.#times > 0 && step === this.#step && part === this.#part) {
      return isAbove(position, this.#position) ? "raises" : "duplicate";
    }
    const known = state.marks[findMark(state.marks, step, part)];
    if (known !== undefined && !isAbove(position, known.position)) return "duplicate";
    if (this.#times > 0) return undefined;
    return known !== undefined || isPlainBeginning(state, step, part) ? "raises" : undefined;
  }

  /** Takes a report that raises. */
  raise(report: ProgressReport, now: number): void {
    this.#step = report.step ?? null;
    this.#part = report.part ?? null;
    this.#position = report.position ?? null;
    this.#at = now;
    this.#times += 1;
  }

  /** The state with what is pending, which is nothing from then on. */
  fold(state: DeadlineState): DeadlineState {
    const times = this.#times;
    if (times === 0) return state;
    this.#times = 0;
    const report = { step: this.#step, part: this.#part, position: this.#position } as ProgressReport;
    return applyProgress(state, progressOf(state, report), this.#at, times).state;
  }
}

/** Whether a new mark is valid, within the limits whatever the others are, and leaves the stall limit as it is. */
function isPlainBeginning(state: DeadlineState, step: string | null, part: string | null): boolean {
  return (
    (step === null || isName(step)) &&
    (part === null || isName(part)) &&
    state.marks.length < MAX_STEPS &&
    typeof currentPhase(state).stallMs !== "object"
  );
}
