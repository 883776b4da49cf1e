import type { Observation } from "./observation.js";
import type { PhasePolicy, SandboxRecord } from "./record.js";

/**
 * What a gateway knows when it plans its start-up or its shutdown.
 *
 * @public
 */
export interface SweepOptions {
  /** The gateway stops compute on its own shutdown and starts it again (OpenShell: `gateway_manages_lifecycle`). */
  readonly managesLifecycle: boolean;
  /** A look at the backend that began after the record was read, where one was made. One from before tells of no loss. */
  readonly observation?: Observation | null | undefined;
  /** What this gateway has decided once. Default: every field's own. */
  readonly policy?: PhasePolicy | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * What to do about one record in a sweep.
 *
 * @public
 */
export interface SweepPlan {
  /** The driver call to make, or `null`. */
  readonly call: "start" | "stop" | null;
  /** The record as the look at the backend left it: write it first when it changed. */
  readonly record: SandboxRecord;
  /** Whether there is something to write. */
  readonly changed: boolean;
  /** End the sandbox's sessions. */
  readonly sessionCleanup: boolean;
}

/**
 * How a call of a sweep ended.
 *
 * @public
 */
export type RecoveryResult = "ok" | "not-found" | "error";
