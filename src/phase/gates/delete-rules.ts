import { isGoing } from "../evidence.js";
import type { GateRule } from "./gate-rule.js";

/**
 * The gate of delete, in order. It never refuses.
 *
 * @public
 */
export const deleteRules: readonly GateRule[] = Object.freeze([
  {
    name: "delete-lost",
    operation: "delete",
    condition: "`Deleting`, and the object is there and not being removed",
    route: "retry",
    reason: null,
    rationale: "The driver call was lost, for instance in a crash after the write.",
    when: (input) =>
      isGoing(input) && input.observation?.exists === true && input.observation.deleting === false,
  },
  {
    name: "delete-again",
    operation: "delete",
    condition: "`Deleting` or `Deleted`",
    route: "noop",
    reason: null,
    rationale: "Acknowledged without a second driver call.",
    when: isGoing,
  },
  {
    name: "delete-anything",
    operation: "delete",
    condition: "Everything else",
    route: "delete",
    reason: null,
    rationale: "Delete is always open.",
    when: () => true,
  },
] satisfies GateRule[]);
