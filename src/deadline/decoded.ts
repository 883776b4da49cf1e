import { invalid } from "../errors.js";

/**
 * Refuses what was never decoded, for instance a bare `JSON.parse` of something else. The version alone is looked at,
 * because whoever decodes has the rest checked.
 *
 * @throws {@link SlipwayError} `INVALID_STATE` naming `schemaVersion`.
 *
 * @internal
 */
export function checkDecoded(
  subject: string,
  state: { readonly schemaVersion: number } | null | undefined,
): void {
  const schemaVersion: unknown = state?.schemaVersion;
  if (schemaVersion !== 1)
    throw invalid("INVALID_STATE", subject, "schemaVersion", "1, as decoding leaves it", schemaVersion);
}
