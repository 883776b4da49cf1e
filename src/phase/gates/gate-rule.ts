import type { Observation } from "../observation.js";
import type { PhasePolicy, SandboxRecord } from "../record.js";

/**
 * How an allowed operation is carried out.
 *
 * - `fresh`: first start. `resume`: a stopped one. `restart`: after a result, with a new instance id. All three keep
 *   identity and workspace; none creates a second one.
 * - `retry`: the same operation again, idempotent in the driver (a start: under the same instance id).
 * - `noop`: nothing to do; no driver call.
 * - `stop`, `delete`: the driver call of that name.
 *
 * @public
 */
export type OperationRoute = "fresh" | "resume" | "restart" | "retry" | "noop" | "stop" | "delete";

/**
 * The operations a caller may ask for.
 *
 * @public
 */
export type Operation = "start" | "stop" | "delete";

/**
 * A gate's answer.
 *
 * @public
 */
export type GateDecision =
  | {
      /** The operation may be carried out. */
      readonly allowed: true;
      /** How. */
      readonly route: OperationRoute;
      /** Name of the rule that decided. */
      readonly rule: string;
    }
  | {
      /** The operation is refused. */
      readonly allowed: false;
      /** Why: a stable word. */
      readonly reason: string;
      /** The same for people: never parse it. */
      readonly message: string;
      /** Name of the rule that decided. */
      readonly rule: string;
    };

/**
 * What the gates look at.
 *
 * @public
 */
export interface GateInput {
  /** What the gateway has stored. */
  readonly record: SandboxRecord;
  /** The latest look at the backend; `null` or absent: none. */
  readonly observation?: Observation | null | undefined;
  /** Whether the gateway's isolation backend is the one that the sandbox is pinned to. `null` or absent: no pin known. */
  readonly backendMatches?: boolean | null | undefined;
  /** Who asks: a user, or the gateway's own automatic restart. */
  readonly by: "user" | "automatic";
  /** The current instant, epoch milliseconds. */
  readonly now: number;
  /** What this gateway has decided once. Default: every field's own. */
  readonly policy?: PhasePolicy | undefined;
}

/**
 * One row of a gate table. The first row whose condition holds decides; the last one always holds.
 *
 * @public
 */
export interface GateRule {
  /** Stable name; decisions carry it. */
  readonly name: string;
  /** The operation whose gate it belongs to. */
  readonly operation: Operation;
  /** The condition in words. */
  readonly condition: string;
  /** The route when the operation is allowed. */
  readonly route: OperationRoute | null;
  /** The reason when it is refused. */
  readonly reason: string | null;
  /** Why the rule is there and why it stands where it stands. */
  readonly rationale: string;
  /** @internal */
  when(input: GateInput): boolean;
}
