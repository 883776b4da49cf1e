/**
 * The persisted state of tracked steps: plain JSON, all instants absolute epoch milliseconds.
 *
 * Read it back with `decodeTrackerState` of `slipway/schema`, which never takes a damaged record for a fresh start.
 *
 * @public
 */
export interface TrackerState {
  /** Version of this shape. A newer one is refused by `decodeTrackerState`. */
  readonly schemaVersion: 1;
  /** Grows by one with every change. */
  readonly version: number;
  /** When tracking began. */
  readonly startedAt: number;
  /** The latest instant this state knows of: time never counts as less, whatever a clock says. */
  readonly observedAt: number;
  /** The driver run that reports now, 0 before the first that was named. */
  readonly run: number;
  /** In the order of the work. */
  readonly steps: readonly TrackedStep[];
}

/**
 * One step and how far it has come.
 *
 * @public
 */
export interface TrackedStep {
  /** Name of the step, unique in its tracker. */
  readonly step: string;
  /** What the step is called once it is finished. */
  readonly label: string;
  /** What the step is called while it runs. */
  readonly activeLabel: string;
  /** What it works on: reports about something else are refused. */
  readonly subject: string;
  /** The unit of its positions and totals. */
  readonly unit: string;
  /** The total of the whole step, as defined or as last reported without a part. `null`: unknown. */
  readonly total: number | null;
  /** `null` until it begins. A step that begins again keeps it. */
  readonly startedAt: number | null;
  /** When it was last heard of, in whatever unit. */
  readonly heardAt: number | null;
  /** `null` while it is not finished. */
  readonly finishedAt: number | null;
  /** When it was finished for the first time, which is when its completion was announced. */
  readonly completedAt: number | null;
  /** The driver run whose marks these are. */
  readonly run: number;
  /** High-water marks of this run, in the order in which their (part, unit) appeared. */
  readonly marks: readonly PartMark[];
  /** What the rate is computed from, `null` until something was counted. */
  readonly pace: Pace | null;
}

/**
 * How far one part (a layer, a chunk) of a step has come.
 *
 * @public
 */
export interface PartMark {
  /** `null` for reports without a part. */
  readonly part: string | null;
  /** `null` for the step's own unit. A foreign one is a sign of life and adds up to nothing. */
  readonly unit: string | null;
  /** The highest position seen. */
  readonly position: number;
  /** The part's total, `null` while unknown. */
  readonly total: number | null;
}

/**
 * A sample of the position and the rate up to it.
 *
 * @public
 */
export interface Pace {
  /** When it was taken, epoch milliseconds. */
  readonly at: number;
  /** The position at that instant. */
  readonly position: number;
  /** Units per second, smoothed. `null` before a second has been measured. */
  readonly perSecond: number | null;
}
