import { isGoing } from "../evidence.js";
import type { GateRule } from "./gate-rule.js";

/**
 * The gate of stop, in order.
 *
 * @public
 */
export const stopRules: readonly GateRule[] = Object.freeze([
  {
    name: "stop-while-deleting",
    operation: "stop",
    condition: "`Deleting`, `Deleted` or delete intent",
    route: null,
    reason: "Deleting",
    rationale: "Delete stops it anyway.",
    when: isGoing,
  },
  {
    name: "stop-stopped",
    operation: "stop",
    condition: "`Stopped` or `Completed`, or `Error` with a recorded exit code",
    route: "noop",
    reason: null,
    rationale: "Nothing executes: an idempotent return that still ends sessions.",
    when: ({ record }) =>
      record.phase === "Stopped" ||
      record.phase === "Completed" ||
      (record.phase === "Error" && typeof record.exitCode === "number"),
  },
  {
    name: "stop-again",
    operation: "stop",
    condition: "`Stopping`",
    route: "retry",
    reason: null,
    rationale: "Stop is idempotent in the driver, and a retained stop has to be finished by somebody.",
    when: ({ record }) => record.phase === "Stopping",
  },
  {
    name: "stop-anything",
    operation: "stop",
    condition: "Everything that may execute: `Provisioning`, `Starting`, `Ready`, `Unknown`, `Error`",
    route: "stop",
    reason: null,
    rationale: "Stop is the way out of every phase that start refuses (NVIDIA/OpenShell#3308, #4231).",
    when: () => true,
  },
] satisfies GateRule[]);
