import type { Fault } from "../errors.js";
import { MAX_FOREIGN_UNITS, MAX_PARTS } from "./limits.js";
import { countForeignUnits } from "./marks.js";
import type { TrackedStep, TrackerState } from "./state.js";
import { definitionFault } from "./step-definition.js";

/**
 * What contradicts itself in a state of the right shape: such a record was damaged, and nothing in it can be believed.
 *
 * @internal
 */
export function* trackerFaults(state: TrackerState): Generator<Fault> {
  if (state.startedAt > state.observedAt) {
    yield { field: "observedAt", expected: "at or after startedAt", value: state.observedAt };
  }
  const names = new Set<unknown>();
  for (const [index, step] of state.steps.entries()) {
    const total = step.total ?? undefined;
    const fault = definitionFault({ ...step, total }, names) ?? stepFault(step, state);
    if (fault !== undefined) yield { ...fault, field: `steps[${index}].${fault.field}` };
    names.add(step.step);
  }
}

function stepFault(step: TrackedStep, state: TrackerState): Fault | undefined {
  if (step.run > state.run) return { field: "run", expected: "at most the tracker's run", value: step.run };
  return step.startedAt === null
    ? waitingFault(step)
    : (timeFault(step, state, step.startedAt) ?? markFault(step));
}

/** Of a step that has not begun nothing is known but what it is. */
function waitingFault(step: TrackedStep): Fault | undefined {
  for (const field of ["heardAt", "finishedAt", "completedAt", "pace"] as const) {
    if (step[field] !== null) return { field, expected: "null until startedAt is set", value: step[field] };
  }
  if (step.marks.length > 0)
    return { field: "marks", expected: "empty until startedAt is set", value: step.marks };
  if (step.run !== 0) return { field: "run", expected: "0 until startedAt is set", value: step.run };
  return undefined;
}

function timeFault(step: TrackedStep, state: TrackerState, startedAt: number): Fault | undefined {
  const { heardAt, finishedAt, completedAt, pace } = step;
  const within = (field: string, at: number | null | undefined, from: number): Fault | undefined =>
    at === null || at === undefined || (at >= from && at <= state.observedAt)
      ? undefined
      : { field, expected: `from ${from} to observedAt`, value: at };
  if (heardAt === null)
    return { field: "heardAt", expected: "an instant once startedAt is set", value: heardAt };
  if (finishedAt !== null && (completedAt === null || completedAt > finishedAt)) {
    return { field: "completedAt", expected: "an instant at or before finishedAt", value: completedAt };
  }
  return (
    within("startedAt", startedAt, state.startedAt) ??
    within("heardAt", heardAt, startedAt) ??
    within("finishedAt", finishedAt, startedAt) ??
    within("completedAt", completedAt, startedAt) ??
    within("pace.at", pace?.at, startedAt)
  );
}

function markFault({ marks, unit }: TrackedStep): Fault | undefined {
  const keys = new Set<string>();
  for (const [index, mark] of marks.entries()) {
    const field = `marks[${index}]`;
    const key = JSON.stringify([mark.part, mark.unit]);
    if (keys.has(key)) return { field, expected: "of a part and unit that no other mark is of", value: mark };
    if (mark.unit === unit)
      return { field: `${field}.unit`, expected: "null for the step's own unit", value: unit };
    if (mark.total !== null && (mark.unit !== null || mark.part === null)) {
      return {
        field: `${field}.total`,
        expected: "null without a part, and in a foreign unit",
        value: mark.total,
      };
    }
    keys.add(key);
  }
  if (marks.length > MAX_PARTS)
    return { field: "marks", expected: `at most ${MAX_PARTS}`, value: marks.length };
  if (countForeignUnits(marks) > MAX_FOREIGN_UNITS) {
    return { field: "marks", expected: `in at most ${MAX_FOREIGN_UNITS} foreign units`, value: marks };
  }
  return undefined;
}
