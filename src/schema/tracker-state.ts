import * as z from "zod";
import { LAST_INSTANT, MAX_NAME_LENGTH } from "../deadline/limits.js";
import { invalid } from "../errors.js";
import type { TrackerState } from "../progress/index.js";
import { trackerFaults } from "../progress/invariants.js";
import { MAX_LABEL_LENGTH, MAX_PARTS, MAX_STEPS, MAX_SUBJECT_LENGTH } from "../progress/limits.js";
import { firstFault } from "./fault.js";
import { migrate, type Migration } from "./migrate.js";

const instant = z.int().min(-LAST_INSTANT).max(LAST_INSTANT);
const count = z.number().min(0);
const run = z.int().min(0);
const name = z.string().min(1).max(MAX_NAME_LENGTH);
const label = z.string().min(1).max(MAX_LABEL_LENGTH);

const mark = z.strictObject({
  part: name.nullable(),
  unit: name.nullable(),
  position: count,
  total: count.nullable(),
});

const step = z.strictObject({
  step: name,
  label,
  activeLabel: label,
  subject: z.string().max(MAX_SUBJECT_LENGTH),
  unit: name,
  total: count.nullable(),
  startedAt: instant.nullable(),
  heardAt: instant.nullable(),
  finishedAt: instant.nullable(),
  completedAt: instant.nullable(),
  run,
  marks: z.array(mark).max(MAX_PARTS),
  pace: z.strictObject({ at: instant, position: count, perSecond: count.nullable() }).nullable(),
});

/**
 * The shape of persisted steps, schema version 1. {@link decodeTrackerState} also checks what a shape cannot say.
 *
 * @public
 */
export const trackerStateSchema: z.ZodType<TrackerState> = z.strictObject({
  schemaVersion: z.literal(1),
  version: z.int().min(1),
  startedAt: instant,
  observedAt: instant,
  run,
  steps: z.array(step).min(1).max(MAX_STEPS),
});

const CURRENT_VERSION = 1;
const migrations: ReadonlyMap<number, Migration> = new Map();

/**
 * Reads persisted steps, strictly: a record that is partial, damaged or contradicts itself is an error and is never
 * taken for a fresh start.
 *
 * @param value - What `JSON.parse` gave for a stored {@link TrackerState}.
 *
 * @throws `SlipwayError` with code `INVALID_STATE` naming the field and the value found there, or
 * `UNSUPPORTED_SCHEMA_VERSION` for a version that this release does not know.
 *
 * @example
 * ```ts
 * import { startTracking } from "slipway/progress";
 * import { decodeTrackerState } from "slipway/schema";
 *
 * const state = startTracking([{ step: "export", label: "Image exported", subject: "local-big:1" }], 0);
 * decodeTrackerState(JSON.parse(JSON.stringify(state))).steps[0]?.subject; // => "local-big:1"
 * ```
 *
 * @public
 */
export function decodeTrackerState(value: unknown): TrackerState {
  const migrated = migrate(value, "tracker state", CURRENT_VERSION, migrations);
  const parsed = trackerStateSchema.safeParse(migrated);
  if (!parsed.success) {
    const { field, expected, value: found } = firstFault(parsed.error, migrated);
    throw invalid("INVALID_STATE", "tracker state", field, expected, found);
  }
  for (const { field, expected, value: found } of trackerFaults(parsed.data)) {
    throw invalid("INVALID_STATE", "tracker state", field, expected, found);
  }
  return parsed.data;
}
