import { invalid } from "../errors.js";
import { BYTES, isCount, percentage } from "./count.js";
import { formatDuration, formatQuantity, printable } from "./quantity.js";

/**
 * What a line about a step is made of. A {@link StepReading} has all of it.
 *
 * @public
 */
export interface StepLine {
  /** What the finished step is called. */
  readonly label: string;
  /** Default: the label. */
  readonly activeLabel?: string | undefined;
  /** Empty or absent: the line names none. */
  readonly subject?: string | null | undefined;
  /** `null` or absent: nothing was counted. */
  readonly position?: number | null | undefined;
  /** `null` or absent: unknown. */
  readonly total?: number | null | undefined;
  /** Any word. Default `bytes`. */
  readonly unit?: string | undefined;
  /** Time the step has taken so far, milliseconds. */
  readonly elapsedMs: number;
  /** Whether the step is over: the line says `label` then, and `activeLabel` before. */
  readonly finished: boolean;
  /** Default: the share of the total, below 100. `null`: none is shown. */
  readonly percent?: number | null | undefined;
  /** Units per second. */
  readonly perSecond?: number | null | undefined;
  /** Time since the step was heard of. Shown from ten seconds on. */
  readonly quietMs?: number | undefined;
}

/** From here on silence is worth a word: no line that moves looks like this. */
const QUIET_MS = 10_000;

/**
 * One step as a line. Finished: what it worked on, how large that was, and how long it took. Under way: how much of
 * how much, the percentage only where the total is known, the rate, and the time so far.
 *
 * @example
 * ```ts
 * import { formatStep } from "slipway/progress";
 *
 * const step = { label: "Image exported from local Docker", subject: "local-big:1", unit: "bytes" };
 * formatStep({ ...step, position: 4_900_000_000, elapsedMs: 182_000, finished: true }); // => "✓ Image exported from local Docker (local-big:1, 4.9 GB) (3m02s)"
 * formatStep({ ...step, position: 1_225_000_000, total: 4_900_000_000, elapsedMs: 45_500, finished: false }); // => "… Image exported from local Docker (local-big:1, 1.2 GB of 4.9 GB, 25 %) (45.5s)"
 * ```
 *
 * @throws SlipwayError `INVALID_OPTION` - for what has no label.
 *
 * @public
 */
export function formatStep(step: StepLine): string {
  const label: unknown = (step as StepLine | undefined)?.label;
  if (typeof label !== "string") throw invalid("INVALID_OPTION", "step", "label", "text", label);
  const { activeLabel, subject, elapsedMs, finished } = step;
  const facts = [printable(subject ?? ""), ...(finished ? resultOf(step) : stateOf(step))].filter(
    (text) => text !== "",
  );
  const about = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
  const name = printable(finished ? label : (activeLabel ?? label));
  return `${finished ? "✓" : "…"} ${name}${about} (${formatDuration(elapsedMs)})`;
}

function resultOf({ position, unit }: StepLine): string[] {
  return isCount(position) ? [formatQuantity(position, unit ?? BYTES)] : [];
}

function stateOf(step: StepLine): string[] {
  const { position, total, perSecond, quietMs = 0 } = step;
  const unit = step.unit ?? BYTES;
  const facts: string[] = [];
  if (isCount(position)) {
    // An estimate that was too low is no longer worth showing.
    const known = isCount(total) && total > 0 ? total : null;
    const of = known !== null && position <= known ? ` of ${formatQuantity(known, unit)}` : "";
    facts.push(`${formatQuantity(position, unit)}${of}`);
    const percent = step.percent === undefined ? known && percentage(position, known) : step.percent;
    if (isCount(percent) && unit !== "%") facts.push(`${Math.min(percent, 99)} %`);
    if (isCount(perSecond)) facts.push(`${formatQuantity(perSecond, unit)}/s`);
  }
  if (quietMs >= QUIET_MS) facts.push(`silent for ${formatDuration(quietMs)}`);
  return facts;
}
