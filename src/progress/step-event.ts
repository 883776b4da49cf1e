import { invalid } from "../errors.js";
import { MAX_NAME_LENGTH } from "./limits.js";
import { given, isText } from "./step-definition.js";

/** What a report may say besides its position. */
export interface ReportOptions {
  /** The layer, chunk or file that the position and the total are of. Parts add up. */
  readonly part?: string | undefined;
  /** The unit of the position. Another than the step's own is a sign of life only. Default: the step's own. */
  readonly unit?: string | undefined;
  /** See {@link RunOptions.run}. */
  readonly run?: number | undefined;
}

/** Which start of the driver's work an event belongs to. */
export interface RunOptions {
  /**
   * An integer that the gateway mints for each start of the driver's work. A higher one says that the work began
   * again: each step's marks start anew with its next report, its times do not. Default: the current run.
   */
  readonly run?: number | undefined;
}

/** How far a step, or a part of it, has come. */
export interface StepReport extends ReportOptions {
  /** Names the kind of event. */
  readonly type: "report";
  /** Name of a defined step; another is refused as `unknown-step`. */
  readonly step: string;
  /** What the work is on; another than the step's own is refused as `other-subject`. */
  readonly subject: string;
  /** A finite number, 0 or more. Only a new maximum counts. */
  readonly position: number;
  /** Of the part where one is named, else of the whole step. */
  readonly total?: number | undefined;
}

/** A step begins, or begins again, and there is nothing to count yet. */
export interface StepStart extends RunOptions {
  /** Names the kind of event. */
  readonly type: "start";
  /** Name of a defined step; another is refused as `unknown-step`. */
  readonly step: string;
  /** What the work is on; another than the step's own is refused as `other-subject`. */
  readonly subject: string;
}

/** A step is finished. */
export interface StepFinish extends RunOptions {
  /** Names the kind of event. */
  readonly type: "finish";
  /** Name of a defined step; another is refused as `unknown-step`. */
  readonly step: string;
  /** What the work is on; another than the step's own is refused as `other-subject`. */
  readonly subject: string;
}

/**
 * Everything that can happen to tracked steps.
 *
 * @public
 */
export type StepEvent = StepReport | StepStart | StepFinish;

const TYPES: ReadonlySet<unknown> = new Set(["report", "start", "finish"]);

/**
 * Refuses an event that is a mistake rather than news. A refusal by the rules is an outcome instead, also for a
 * position or a total that is no number: those come from a driver's own arithmetic.
 *
 * @throws {@link SlipwayError} `INVALID_EVENT` naming the field and the value.
 *
 * @internal
 */
export function checkStepEvent(event: StepEvent): void {
  if (typeof event !== "object" || (event as unknown) === null) throw wrong("", "an object", event);
  const { type, step, subject, run } = event;
  if (!TYPES.has(type)) {
    throw wrong("type", "report, start or finish", type);
  }
  // However long: neither is kept, and one that no step has is a refusal.
  if (typeof step !== "string") throw wrong("step", "a string", step);
  if (typeof subject !== "string") throw wrong("subject", "a string", subject);
  if (given(run) && !(Number.isSafeInteger(run) && (run as number) >= 0)) {
    throw wrong("run", "a safe integer, 0 or more", run);
  }
  if (type !== "report") return;
  optionalName("part", event.part);
  optionalName("unit", event.unit);
}

function optionalName(field: string, value: unknown): void {
  if (given(value) && !isText(value, 1, MAX_NAME_LENGTH))
    throw wrong(field, `a string of 1 to ${MAX_NAME_LENGTH} characters`, value);
}

function wrong(field: string, expected: string, value: unknown): Error {
  return invalid("INVALID_EVENT", "step event", field, expected, value);
}
