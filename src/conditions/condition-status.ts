import type { ConditionStatus } from "./condition.js";

/** By the number of the protobuf enum. */
const WORDS: readonly ConditionStatus[] = ["Unknown", "True", "False", "Unknown"];
/**
 * A status as peers write it: any case, a boolean, a protobuf enum name (`CONDITION_STATUS_TRUE`) or its number (0
 * unspecified, 1 true, 2 false, 3 unknown); `undefined` for a value that has no meaning here.
 *
 * Absent and empty mean `Unknown`, as Kubernetes reads them.
 *
 * @internal
 */
export function readStatus(value: unknown): ConditionStatus | undefined {
  if (typeof value === "number") return WORDS[value];
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "string") return value === undefined || value === null ? "Unknown" : undefined;
  const word = value
    .trim()
    .toLowerCase()
    .replace(/^([a-z0-9]+_)*(status|condition)_/, "");
  return (
    WORDS.find((status) => status.toLowerCase() === word) ??
    (/^(unspecified)?$/.test(word) ? "Unknown" : undefined)
  );
}
