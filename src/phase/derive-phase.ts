import type { ConditionUpdate } from "../conditions/index.js";
import { checkInput } from "./check-input.js";
import { isLiveSession, type PhaseInput } from "./evidence.js";
import { unobserved, type Observation, type Tri } from "./observation.js";
import type { Phase } from "./phase.js";
import type { DesiredState } from "./record.js";
import { isInfrastructureError } from "./reasons.js";
import { phaseRules } from "./rules/index.js";
import type { FactName, PhaseEffect, PhaseRule, RuleContext } from "./rules/rule.js";

/**
 * Evidence that was seen and not used, and why.
 *
 * @public
 */
export interface RejectedEvidence {
  /** The fact that was left out; `evidence` for all of it. */
  readonly fact: FactName | "evidence";
  /** What it said. */
  readonly value: unknown;
  /** Why it was left out, for people. */
  readonly why: string;
}

/**
 * What was decided about a sandbox, with the rule that decided it.
 *
 * @public
 */
export interface PhaseDecision {
  /** The phase that follows from the record and the evidence. */
  readonly phase: Phase;
  /** A word of the reason catalog. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
  /** Name of the rule in {@link phaseRules}. */
  readonly rule: string;
  /** The facts that the rule looked at. */
  readonly used: readonly FactName[];
  /** Evidence that was seen and left out. */
  readonly rejected: readonly RejectedEvidence[];
  /** The answer rests on the record, or on evidence that is known to be behind. */
  readonly stale: boolean;
  /** The conditions to publish with it: `Ready`, or none where the record is held and its own stand. */
  readonly conditions: readonly ConditionUpdate[];
  /** Work for the gateway. */
  readonly effects: readonly PhaseEffect[];
}

const NOTHING_REJECTED: readonly RejectedEvidence[] = Object.freeze([]);
const NO_EFFECTS: readonly PhaseEffect[] = Object.freeze([]);
const UNOBSERVED: Observation = Object.freeze(unobserved(null));
const UNSAID: Observation = {
  ...UNOBSERVED,
  terminating: null,
  suspended: null,
  completed: null,
  stale: false,
};

/**
 * Decides the phase of a sandbox from its record and what its backend shows.
 *
 * Pure and total: every input is decided by exactly one rule of {@link phaseRules}, `now` matters only against a
 * stored deadline, and neither the order of arrays nor letter case nor unknown words of a backend move a phase.
 * Feeding the decision back as the record gives the same phase again.
 *
 * @example
 * ```ts
 * import { derivePhase, observeDockerInspect } from "slipway/phase";
 *
 * const observation = observeDockerInspect({ inspect: { State: { Status: "exited", ExitCode: 0 } } });
 * const record = { phase: "Ready", desired: "running", since: 0 } as const;
 * derivePhase({ record, observation, now: Date.now() }).phase; // => "Completed"
 * ```
 *
 * @throws SlipwayError `INVALID_OPTION` - for a mistake of the caller: no record, no phase in it, or no `now`. A phase of
 * a newer peer is none.
 *
 * @public
 */
export function derivePhase(input: PhaseInput): PhaseDecision {
  checkInput(input);
  const { record } = input;
  const observation = wholeOf(input.observation ?? UNOBSERVED);
  const { session } = input;
  const context: RuleContext = {
    record,
    observation,
    session,
    live: isLiveSession(record, session),
    now: input.now,
    policy: input.policy,
  };
  const rule = decidingRule(context);
  const { phase, reason, message, conditions } = rule.decide(context);
  return {
    phase,
    reason,
    message,
    rule: rule.name,
    used: rule.uses,
    rejected: mayReject(context, rule)
      ? rejections(context, rule, input.observation === null)
      : NOTHING_REJECTED,
    stale: rule.holds || observation.behind || lacksEvidence(context, rule),
    conditions,
    effects: effectsOf(context, phase, rule),
  };
}

/**
 * What somebody else wrote down may leave out what was not known: no rule takes that for a finding. Looked at is what some
 * rule tells from its absence, by name: a loop over names takes three times as long as the decision.
 */
function wholeOf(observation: Observation): Observation {
  const { exists, deleting, running, readiness, exitCode, finishedAt, failureReason, message } =
    observation as Partial<Observation>;
  if (exists !== undefined && deleting !== undefined && running !== undefined && readiness !== undefined)
    if (exitCode !== undefined && finishedAt !== undefined)
      if (failureReason !== undefined && message !== undefined) return observation;
  const said = Object.entries(observation).filter(([, value]) => value !== undefined);
  return { ...UNSAID, ...(Object.fromEntries(said) as Partial<Observation>) };
}

function decidingRule(context: RuleContext): PhaseRule {
  const { observation, record } = context;
  const row =
    ROWS[place(observation.exists) * 9 + intentPlace(record.desired) * 3 + place(observation.running)];
  if (row !== undefined) for (const rule of row) if (rule.when(context)) return rule;
  return LAST_RULE;
}

/** The table ends with a rule that always holds; this names it for the type checker. */
const LAST_RULE: PhaseRule = phaseRules[phaseRules.length - 1] as PhaseRule;

function place(fact: Tri): number {
  return fact === null ? 2 : fact ? 1 : 0;
}

function intentPlace(desired: DesiredState): number {
  return desired === "stopped" ? 1 : desired === "deleted" ? 2 : 0;
}

/** The rules that can hold at all for each combination of the indexed facts, in the order of the table. */
const ROWS: readonly (readonly PhaseRule[])[] = [false, true, null].flatMap((exists) =>
  (["running", "stopped", "deleted"] as const).flatMap((desired) =>
    [false, true, null].map((running) =>
      phaseRules.filter(
        ({ on }) =>
          (on?.exists === undefined || on.exists === exists) &&
          (on?.desired === undefined || on.desired === desired) &&
          (on?.running === undefined || on.running === running),
      ),
    ),
  ),
);

/**
 * Whether the answer stands without evidence of the present: a stop that nobody can confirm, or a result kept against
 * a terminal object that seems to have come back.
 */
function lacksEvidence({ observation }: RuleContext, rule: PhaseRule): boolean {
  if (rule.name === "stop-waiting") return observation.stale || observation.running === null;
  return (
    rule.name === "result-kept" && observation.completed !== true && observation.failureClass !== "terminal"
  );
}

function effectsOf(context: RuleContext, phase: Phase, rule: PhaseRule): readonly PhaseEffect[] {
  const { record, observation } = context;
  if (phase === "Stopped") {
    if (record.phase !== "Stopped") return STOPPED_NOW;
    return observation.running === true && !observation.stale ? STOP_WORKLOAD : NO_EFFECTS;
  }
  if (rule.name === "deadline-over" || rule.name === "deadline-over-late") return EXPIRE;
  if (observation.exists === false && isPruneCandidate(context)) return PRUNE;
  return NO_EFFECTS;
}

const STOPPED_NOW: readonly PhaseEffect[] = Object.freeze(["session-cleanup"]);
const STOP_WORKLOAD: readonly PhaseEffect[] = Object.freeze(["stop-workload"]);
const EXPIRE: readonly PhaseEffect[] = Object.freeze(["expire-deadline"]);
const PRUNE: readonly PhaseEffect[] = Object.freeze(["prune-candidate"]);

function isPruneCandidate({ record }: RuleContext): boolean {
  if (record.desired === "deleted") return false;
  if (record.phase === "Error") return isInfrastructureError(record.reason, record.exitCode);
  return record.phase === "Provisioning" || record.phase === "Ready" || record.phase === "Unknown";
}

/** Cheap test, so that nothing is allocated where nothing is rejected. */
function mayReject({ record, observation, live, session }: RuleContext, rule: PhaseRule): boolean {
  return (
    observation.stale ||
    observation.behind ||
    (observation.ready === true && observation.running !== true) ||
    (observation.completed === true && observation.running !== false) ||
    (session?.connected === true && !live) ||
    rule.name === "result-kept" ||
    rule.name === "stop-kept" ||
    (observation.suspended === true && record.desired === "running" && rule.name !== "empty-backend")
  );
}

function rejections(
  { record, observation, live, session }: RuleContext,
  rule: PhaseRule,
  lost: boolean,
): RejectedEvidence[] {
  const rejected: RejectedEvidence[] = [];
  const add = (fact: RejectedEvidence["fact"], value: unknown, why: string): void => {
    rejected.push({ fact, value, why });
  };
  if (lost || observation.exists === null) add("exists", null, unlearntWhy(observation));
  else if (observation.stale)
    add("stale", true, "the observation is of another run or generation, or its backend did not answer");
  if (observation.behind)
    add(
      "evidence",
      observation.backendReason,
      "conditions were of an older generation or contradicted each other",
    );
  if (observation.ready === true && observation.running !== true)
    add("ready", true, "readiness does not count without a workload that executes");
  if (observation.completed === true && observation.running !== false)
    add("completed", true, "an end does not count while something may execute");
  if (session?.connected === true && !live)
    add("session", session.instanceId ?? null, "the session is of another run");
  if (rule.name === "result-kept" && observation.running === true)
    add("running", true, "only an accepted operation leaves a recorded result");
  if (rule.name === "stop-kept" && observation.running === true)
    add("running", true, "a workload behind a stopped record is work, not a phase");
  if (observation.suspended === true && record.desired === "running" && rule.name !== "empty-backend")
    add("suspended", true, suspendedWhy(rule, observation));
  return rejected;
}

/** An observer that was given something else says so; nobody's message is read. */
function unlearntWhy({ message }: Observation): string {
  return message === null
    ? "the look-up failed, which says nothing about the sandbox"
    : `nothing was learnt, which says nothing about the sandbox: ${message}`;
}

function suspendedWhy(rule: PhaseRule, observation: Observation): string {
  if (rule.name === "empty-unproven")
    return "the observation is older than the record's last write or start request";
  if (observation.bootstrapping !== false) return "a bootstrap is under way, or nobody says that none is";
  return `rule ${rule.name} stands above it`;
}
