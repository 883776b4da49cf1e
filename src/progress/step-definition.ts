import { invalid, type Fault } from "../errors.js";
import { isCount } from "./count.js";
import { MAX_LABEL_LENGTH, MAX_NAME_LENGTH, MAX_STEPS, MAX_SUBJECT_LENGTH } from "./limits.js";

/**
 * One step of a piece of work. The order of the steps is the order of the work.
 *
 * @public
 */
export interface StepDefinition {
  /** Its name in reports and in a deadline, unique among the steps. At most 256 characters. */
  readonly step: string;
  /** What a person reads once it is finished: `Image exported from local Docker`. */
  readonly label: string;
  /** What a person reads while it is under way: `Exporting image from local Docker`. Default: the label. */
  readonly activeLabel?: string | undefined;
  /** What the step works on: `local-big:1`. A report about anything else is refused. May be empty. */
  readonly subject: string;
  /** What positions count: `bytes`, or any other word. Default `bytes`. */
  readonly unit?: string | undefined;
  /** The total of the whole step, where it is known, or estimated, beforehand. 0 or more. */
  readonly total?: number | undefined;
}

/**
 * @throws {@link SlipwayError} `INVALID_PLAN` naming the field and the value.
 *
 * @internal
 */
export function checkDefinitions(steps: readonly StepDefinition[]): void {
  // As an unknown: the check would change the type of what is in the list.
  const list: unknown = steps;
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_STEPS) {
    throw invalid("INVALID_PLAN", "progress steps", "", `a list of 1 to ${MAX_STEPS} steps`, steps);
  }
  const names = new Set<unknown>();
  for (const [index, step] of steps.entries()) {
    const fault = definitionFault(step, names);
    if (fault !== undefined) {
      const field = `steps[${index}]${fault.field && `.${fault.field}`}`;
      throw invalid("INVALID_PLAN", "progress steps", field, fault.expected, fault.value);
    }
    names.add(step.step);
  }
}

/**
 * The first thing that is wrong with the definition in a step, `names` being those taken already.
 *
 * @internal
 */
export function definitionFault(definition: unknown, names: ReadonlySet<unknown>): Fault | undefined {
  if (typeof definition !== "object" || definition === null) {
    return { field: "", expected: "an object", value: definition };
  }
  const fields = definition as Readonly<Record<string, unknown>>;
  for (const [field, least, most, optional] of TEXTS) {
    const value = fields[field];
    if (isText(value, least, most) || (optional && !given(value))) continue;
    return { field, expected: `a string of ${least} to ${most} characters`, value };
  }
  const { step, total } = fields;
  if (names.has(step)) return { field: "step", expected: "a name that no other step has", value: step };
  if (given(total) && !isCount(total)) {
    return { field: "total", expected: "a finite number, 0 or more", value: total };
  }
  return undefined;
}

/** Name, least and most characters, and whether it may be absent. */
const TEXTS = [
  ["step", 1, MAX_NAME_LENGTH, false],
  ["label", 1, MAX_LABEL_LENGTH, false],
  ["activeLabel", 1, MAX_LABEL_LENGTH, true],
  ["subject", 0, MAX_SUBJECT_LENGTH, false],
  ["unit", 1, MAX_NAME_LENGTH, true],
] as const;

/** Whether a value is a text of such a length. */
export function isText(value: unknown, least: number, most: number): value is string {
  return typeof value === "string" && value.length >= least && value.length <= most;
}

/** JSON of other languages writes `null` for what is absent. */
export function given(value: unknown): boolean {
  return value !== undefined && value !== null;
}
