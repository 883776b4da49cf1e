import { textOf, wholeNumber } from "./same-value.js";
import type { ConditionStatus } from "./condition.js";

/**
 * The statuses, the bad one last: of two the cautious one speaks.
 *
 * @internal
 */
export const statuses: readonly ConditionStatus[] = ["True", "Unknown", "False"];
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
  const word = textOf(value ?? "")
    ?.trim()
    .toLowerCase()
    .replace(/^(([a-z\d]+_)*(status|condition)_)?(unspecified$)?/, "");
  return (
    WORDS[wholeNumber(word === "" ? 0 : word)] ?? statuses.find((status) => status.toLowerCase() === word)
  );
}
