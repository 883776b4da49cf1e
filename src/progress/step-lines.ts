import { formatStep } from "./format-step.js";
import { formatSeconds } from "./quantity.js";
import { liveliest, type StepReading } from "./step-reading.js";

/**
 * What was printed already. Plain JSON; start with {@link NOTHING_PRINTED}.
 *
 * @public
 */
export interface Printed {
  /** Steps whose beginning was printed. */
  readonly begun: readonly string[];
  /** Steps whose end was printed. */
  readonly finished: readonly string[];
  /** When plain output last said something, on the clock of the lines. */
  readonly spokeAt: number;
}

/**
 * Nothing was printed yet: what the first call of {@link stepLines} gets.
 *
 * @public
 */
export const NOTHING_PRINTED: Printed = Object.freeze({ begun: [], finished: [], spokeAt: 0 });

/**
 * What there is to print, and what will have been printed then.
 *
 * @public
 */
export interface StepLines {
  /** Lines that stay. */
  readonly lines: readonly string[];
  /** The line of the step under way that was heard of last, which the next one takes the place of. `null` without a terminal, or at rest. */
  readonly live: string | null;
  /** What to pass the next time. */
  readonly printed: Printed;
}

/** How lines are made. */
export interface StepLinesOptions {
  /** Whether a line can be drawn anew. Without it lines are timestamped, and a step's beginning is one of them. */
  readonly terminal: boolean;
  /** Time since the work began: the timestamp of plain lines. */
  readonly elapsedMs: number;
  /** Without a terminal: how often a step under way says how far it has come. Default 30 000. */
  readonly everyMs?: number | undefined;
}

const DEFAULT_EVERY_MS = 30_000;

/**
 * The lines for a person. Pure: where the steps stand and what was printed give what to print. A finished step has
 * one line, printed once.
 *
 * @example
 * ```ts
 * import { NOTHING_PRINTED, StepTracker, stepLines } from "slipway/progress";
 * import { VirtualClock } from "slipway/testing";
 *
 * const clock = new VirtualClock();
 * const tracker = new StepTracker([{ step: "export", label: "Image exported", subject: "local-big:1" }], { clock });
 * clock.advance(600);
 * tracker.start("export", "local-big:1");
 * const { lines } = stepLines(tracker.readings(), NOTHING_PRINTED, { terminal: false, elapsedMs: 600 });
 * lines; // => ["[0.6s] … Image exported (local-big:1) (0.0s)"]
 * ```
 *
 * @public
 */
export function stepLines(
  readings: readonly StepReading[],
  printed: Printed,
  options: StepLinesOptions,
): StepLines {
  const { terminal, elapsedMs, everyMs = DEFAULT_EVERY_MS } = options;
  const lines: string[] = [];
  const say = (reading: StepReading): void => {
    const line = formatStep(reading);
    lines.push(terminal ? line : plainLine(elapsedMs, line));
  };
  const begun = new Set(printed.begun);
  const finished = new Set(printed.finished);
  for (const reading of readings) {
    if (reading.finished && !finished.has(reading.step)) {
      begun.add(reading.step);
      finished.add(reading.step);
      say(reading);
    } else if (reading.status === "running" && !begun.has(reading.step)) {
      begun.add(reading.step);
      if (!terminal) say(reading);
    }
  }
  const running = readings.filter(({ status }) => status === "running");
  if (!terminal && lines.length === 0 && elapsedMs - printed.spokeAt >= everyMs) running.forEach(say);
  const spokeAt = lines.length === 0 ? printed.spokeAt : elapsedMs;
  const latest = liveliest(readings);
  return {
    lines,
    live: terminal && latest !== undefined ? formatStep(latest) : null,
    printed: { begun: [...begun], finished: [...finished], spokeAt },
  };
}

/**
 * A line with the time since the work began: `[0.6s] …`.
 *
 * @example
 * ```ts
 * import { plainLine } from "slipway/progress";
 *
 * plainLine(227_100, "Waiting for VM supervisor"); // => "[227.1s] Waiting for VM supervisor"
 * ```
 *
 * @public
 */
export function plainLine(elapsedMs: number, text: string): string {
  return `[${formatSeconds(elapsedMs)}] ${text}`;
}
