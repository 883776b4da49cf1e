import { stateIsolationMismatch } from "../conditions/index.js";
import { checkMoment, checkObject, checkOperation } from "./check-input.js";
import { isMarked } from "./evidence.js";
import type { GateDecision, Operation, OperationRoute } from "./gates/index.js";
import { ISOLATION_BACKEND_MISMATCH } from "./reasons.js";
import type { DesiredState, SandboxRecord } from "./record.js";
import { enter, unchanged, type Transition } from "./transition.js";

/**
 * What accepting an operation needs beside the record.
 *
 * @public
 */
export interface AcceptOptions {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Identity for the run that a start opens, when the gateway gives one. A `retry` keeps the one it has. */
  readonly instanceId?: string | null | undefined;
}

/**
 * The record after an operation was accepted by its gate and before the driver is called.
 *
 * Write it by compare-and-swap first: the durable intent is what a crashed gateway resumes. A refused operation leaves
 * the record alone; a `noop`, and a stop or delete that is asked for again, change the intent only, and that only where
 * it differs: somebody else may have stopped or removed the run before the caller asked. Identity of the sandbox and
 * its workspace are never touched; a start fences off the previous run by `previousFinishedAt` and `startRequestedAt`.
 *
 * @throws {@link SlipwayError} `INVALID_OPTION` for no record, gate or options, no `now` in them, or an unknown operation.
 *
 * @example
 * ```ts
 * import { acceptOperation, allowedOperations } from "slipway/phase";
 *
 * const record = { phase: "Ready", desired: "running", since: 0 } as const;
 * const gates = allowedOperations({ record, by: "user", now: 5 });
 * acceptOperation(record, "stop", gates.stop, { now: 5 }).record.phase; // => "Stopping"
 * ```
 *
 * @public
 */
export function acceptOperation(
  record: SandboxRecord,
  operation: Operation,
  gate: GateDecision,
  options: AcceptOptions,
): Transition {
  checkObject("record", record);
  checkObject("gate", gate);
  if (!gate.allowed) return unchanged(record, gate.reason);
  checkOperation(operation);
  checkMoment(options);
  if (gate.route === "noop" || (gate.route === "retry" && operation !== "start"))
    return intended(record, intents[operation], options.now);
  switch (operation) {
    case "start":
      return { record: started(record, gate.route, options), changed: true, refused: null };
    case "stop":
      return {
        record: {
          ...enter(record, "Stopping", "Stopping", "Stop was accepted.", options.now),
          desired: "stopped",
          exitCode: null,
          finishedAt: null,
        },
        changed: true,
        refused: null,
      };
    case "delete":
      return {
        record: {
          ...enter(record, "Deleting", "Deleting", "Delete was accepted.", options.now),
          desired: "deleted",
        },
        changed: true,
        refused: null,
      };
  }
}

const intents = { start: "running", stop: "stopped", delete: "deleted" } as const satisfies Record<
  Operation,
  DesiredState
>;

/** The phase is what the operation leads to already: what is to be written is that somebody asked for it. */
function intended(record: SandboxRecord, desired: DesiredState, now: number): Transition {
  if (record.desired === desired) return unchanged(record);
  return { record: { ...record, desired, updatedAt: now }, changed: true, refused: null };
}

function started(
  record: SandboxRecord,
  route: OperationRoute,
  { now, instanceId }: AcceptOptions,
): SandboxRecord {
  const again = route === "retry";
  const phase = route === "fresh" ? "Provisioning" : "Starting";
  return {
    ...enter(record, phase, "Starting", "Start was accepted.", now),
    desired: "running",
    // What the gateway's own shutdown has stopped is behind a retry too.
    startRequestedAt: again && !isMarked(record) ? (record.startRequestedAt ?? now) : now,
    previousFinishedAt: again
      ? (record.previousFinishedAt ?? null)
      : (record.finishedAt ?? record.previousFinishedAt ?? null),
    expectedInstanceId: again ? (record.expectedInstanceId ?? null) : (instanceId ?? null),
    shutdownStopAt: null,
    exitCode: null,
    finishedAt: null,
  };
}

/**
 * The record of a sandbox whose isolation backend is not the one selected: `Error` / `IsolationBackendMismatch`, with
 * the condition `IsolationBackendMatched=False` beside it, which every contract shows.
 *
 * Only a `Starting` record takes it: everything else is not about to be started, or runs. Write it by compare-and-swap
 * on the version that was read, so that a concurrent stop or readiness update wins and the next scan decides again.
 *
 * Source: NVIDIA/OpenShell#4737, #4738.
 *
 * @example
 * ```ts
 * import { applyBackendMismatch } from "slipway/phase";
 *
 * const record = { phase: "Starting", desired: "running", since: 0 } as const;
 * applyBackendMismatch(record, Date.now()).record.reason; // => "IsolationBackendMismatch"
 * ```
 *
 * @public
 */
export function applyBackendMismatch(record: SandboxRecord, now: number): Transition {
  checkObject("record", record);
  if (record.phase !== "Starting" || record.desired !== "running") return unchanged(record, "phase");
  const message =
    "The isolation backend that this sandbox is pinned to is not the one selected: restore the gateway's selection or create a new sandbox.";
  const failed = enter(record, "Error", ISOLATION_BACKEND_MISMATCH, message, now);
  // The restart scan found it: there was no timeout.
  const conditions = stateIsolationMismatch(failed.conditions ?? [], { now, timedOut: false, message });
  return { record: { ...failed, conditions }, changed: true, refused: null };
}
