import { invalid, show, SlipwayError } from "../errors.js";

/** Makes the next version's shape out of one version's. Versions that were ever written are read for ever. */
export type Migration = (state: Record<string, unknown>) => Record<string, unknown>;

/**
 * A persisted value in the shape of the current schema version.
 *
 * @param migrations - By the version that a migration reads.
 *
 * @throws {@link SlipwayError} `INVALID_STATE` when it has no version, `UNSUPPORTED_SCHEMA_VERSION` when it has one that
 * this release does not know.
 *
 * @internal
 */
export function migrate(
  value: unknown,
  subject: string,
  current: number,
  migrations: ReadonlyMap<number, Migration>,
): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid("INVALID_STATE", subject, "", "an object", value);
  }
  let state = value as Record<string, unknown>;
  for (;;) {
    const version = state["schemaVersion"];
    if (version === current) return state;
    if (!Number.isSafeInteger(version)) {
      throw invalid("INVALID_STATE", subject, "schemaVersion", "an integer", version);
    }
    const migration = migrations.get(version as number);
    if (migration === undefined) {
      const known = current === 1 ? "1" : `from 1 to ${current}`;
      throw new SlipwayError(
        "UNSUPPORTED_SCHEMA_VERSION",
        `Unsupported ${subject}: schemaVersion must be ${known}, got ${show(version)}`,
        { field: "schemaVersion", value: version },
      );
    }
    state = migration(state);
  }
}
