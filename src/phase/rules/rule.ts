import type { ConditionUpdate } from "../../conditions/index.js";
import type { Observation, Tri } from "../observation.js";
import type { Phase } from "../phase.js";
import type { DesiredState, PhasePolicy, SandboxRecord, Session } from "../record.js";

/**
 * What a rule may look at, by name: fields of the observation, of the record, and the session.
 *
 * @public
 */
export type FactName =
  | Exclude<keyof Observation, "conditions" | "behind" | "message">
  | `record.${keyof SandboxRecord}`
  | "session"
  | "now"
  | "policy";

/**
 * Work that a decision asks of the gateway beside the phase.
 *
 * - `prune-candidate`: the backend has nothing; remove the record once the grace period is over.
 * - `stop-workload`: the record is Stopped, yet something executes.
 * - `session-cleanup`: the sandbox has just stopped; end its sessions.
 * - `expire-deadline`: the stored deadline is over and no tick has said so yet.
 *
 * @public
 */
export type PhaseEffect = "prune-candidate" | "stop-workload" | "session-cleanup" | "expire-deadline";

/**
 * What a rule decides.
 *
 * @internal
 */
export interface RuleOutcome {
  readonly phase: Phase;
  readonly reason: string;
  readonly message: string;
  /** The conditions to publish; none where the record is held and its own stand. */
  readonly conditions: readonly ConditionUpdate[];
}

/**
 * What the rules see: the input with its observation taken apart and the session judged.
 *
 * @public
 */
export interface RuleContext {
  /** What the gateway has stored. */
  readonly record: SandboxRecord;
  /** An observation in which everything is unknown stands for a look-up that failed. */
  readonly observation: Observation;
  /** The supervisor's session; `null` or absent: none is known. */
  readonly session: Session | null | undefined;
  /** A live session of the run that the record expects. */
  readonly live: boolean;
  /** The current instant, epoch milliseconds. */
  readonly now: number;
  /** What this gateway has decided once. */
  readonly policy: PhasePolicy | undefined;
}

/**
 * Values of the indexed facts that a rule needs; absent means any.
 *
 * @public
 */
export interface RuleIndex {
  /** Whether the compute object exists. */
  readonly exists?: Tri | undefined;
  /** What the caller last asked for. */
  readonly desired?: DesiredState | undefined;
  /** Whether the workload executes. */
  readonly running?: Tri | undefined;
}

/**
 * One row of the rule table. The first row whose condition holds decides; the last one always holds.
 *
 * @public
 */
export interface PhaseRule {
  /** Stable name; decisions carry it. */
  readonly name: string;
  /** Which group of the design it belongs to, for the guide. */
  readonly group: string;
  /** The condition in words. */
  readonly condition: string;
  /** What comes out, in words. */
  readonly outcome: string;
  /** The phases that can come out; `held` is the record's own. */
  readonly phases: readonly (Phase | "held")[];
  /** Why the rule is there and why it stands where it stands. */
  readonly rationale: string;
  /** The facts that decide. */
  readonly uses: readonly FactName[];
  /** Whether the answer rests on the record because the evidence could not be used. */
  readonly holds: boolean;
  /** What the condition implies of three facts: an index, so that a decision looks at few rows. */
  readonly on?: RuleIndex | undefined;
  /** @internal */
  when(context: RuleContext): boolean;
  /** @internal */
  decide(context: RuleContext): RuleOutcome;
}
