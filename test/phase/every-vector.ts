import type { SandboxRecord } from "../../src/phase/index.js";
import { backendVectors, recordOf, type BackendVector } from "./vectors.js";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Deterministic, and the counterexample names its seed. */
export const parameters = { seed: 20_261_129, numRuns: 12 } as const;

/** Every record that a vector is stated for. */
export const cases: readonly (readonly [string, BackendVector, SandboxRecord])[] = backendVectors.flatMap(
  (vector) =>
    [vector.record, ...(vector.alsoWithRecord ?? []).map(({ record }) => record)].map(
      (record) => [`${vector.id} ${record.phase}`, vector, recordOf(record)] as const,
    ),
);

/** Rebuilds a JSON value bottom-up, with a chance to replace every object and array. */
export function rebuild(value: Json, change: (value: Json, key: string) => Json, key = ""): Json {
  if (Array.isArray(value))
    return change(
      value.map((entry) => rebuild(entry, change, key)),
      key,
    );
  if (typeof value === "object" && value !== null)
    return change(
      Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, rebuild(inner, change, name)])),
      key,
    );
  return change(value, key);
}

export function everyCase(check: (vector: BackendVector, record: SandboxRecord) => void): void {
  for (const [name, vector, record] of cases)
    try {
      check(vector, record);
    } catch (error) {
      throw new Error(`${name}: ${String(error)}`, { cause: error });
    }
}
