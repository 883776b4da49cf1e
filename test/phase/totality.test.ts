import { describe, expect, it } from "vitest";
import { intents, NOW, tri } from "./fact-domains.js";
import {
  derivePhase,
  phaseRules,
  phases,
  type DeadlineFacts,
  type Observation,
  type Phase,
  type PhaseDecision,
  type PhaseInput,
  type SandboxRecord,
  type Session,
  type Tri,
} from "../../src/phase/index.js";
import { present } from "../../src/phase/observation.js";

const LATER = NOW + 365 * 86_400_000;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const readiness: readonly (readonly [Tri, Observation["readiness"]])[] = [
  [true, "signal"],
  [false, "signal"],
  [null, "none"],
  [null, "unreadable"],
  [false, "unreadable"],
];
const failures: readonly (readonly [string | null, Observation["failureClass"]])[] = [
  [null, null],
  [null, "transient"],
  ["NodeLost", "transient"],
  ["OwnershipConflict", "terminal"],
  ["Expired", "terminal"],
  ["Killed", "terminal"],
];
const ends: readonly (readonly [number | null, Observation["endedBy"]])[] = [
  [0, "guest"],
  [1, "guest"],
  [null, "guest"],
  [null, "unknown"],
];

/** Every combination of the facts that any rule reads, with the domains of each kept small. */
function* observations(): Generator<Observation> {
  const draft = present(NOW) as Writable<Observation>;
  draft.exists = null;
  yield draft;
  draft.exists = false;
  yield draft;
  draft.exists = true;
  for (draft.deleting of [true, null]) yield draft;
  draft.deleting = false;
  for (draft.stale of [false, true])
    for (draft.workload of ["present", "absent", "unknown"] as const)
      for (draft.running of tri)
        for ([draft.ready, draft.readiness] of readiness)
          for (draft.terminating of tri)
            for (draft.suspended of tri)
              for (draft.completed of tri)
                for ([draft.exitCode, draft.endedBy] of draft.completed === true ? ends : ends.slice(3))
                  for (draft.bootstrapping of draft.suspended === true ? tri : [false])
                    for ([draft.failureReason, draft.failureClass] of failures) yield draft;
}

const deadlines: readonly (DeadlineFacts | null)[] = [
  null,
  { deadlineAt: null, lastPhase: true },
  { deadlineAt: null, lastPhase: false },
  { deadlineAt: NOW + 1000, lastPhase: true },
  { deadlineAt: NOW + 1000, lastPhase: false },
  { deadlineAt: NOW, lastPhase: true },
  { deadlineAt: NOW - 1, lastPhase: false },
];

const reached = new Map<string, number>();

/** What may never be claimed without proof, whatever the record says. */
function safe({ record, observation, session, policy }: PhaseInput, decision: PhaseDecision): void {
  const { phase } = decision;
  if (phase === record.phase) return;
  const live = session?.connected === true;
  const proven: Partial<Record<Phase, boolean>> = {
    Ready: observation?.running === true || live,
    Stopped:
      observation?.running === false ||
      (observation?.exists === false && policy?.removesComputeOnStop === true),
    Completed: observation?.completed === true && observation.running === false,
    Deleted: observation?.exists === false,
    Deleting: observation?.exists === true,
  };
  if (proven[phase] === false)
    expect.fail(`${decision.rule} claims ${phase}: ${JSON.stringify(observation)}`);
  if (
    observation === null ||
    observation.exists === null ||
    (observation.stale &&
      record.desired === "running" &&
      observation.exists &&
      observation.deleting !== true &&
      !isOver(record))
  )
    expect.fail(
      `${decision.rule} moves ${record.phase} to ${phase} on nothing: ${JSON.stringify(observation)}`,
    );
}

function isOver({ deadline }: SandboxRecord): boolean {
  return typeof deadline?.deadlineAt === "number" && deadline.deadlineAt <= NOW;
}

/** Checks one input: one rule, a fixed point, and no movement by time alone unless a deadline is stored. */
function check(input: Writable<PhaseInput>): void {
  const { record } = input;
  const decision = derivePhase(input);
  reached.set(decision.rule, (reached.get(decision.rule) ?? 0) + 1);
  safe(input, decision);
  const again: SandboxRecord = { ...record, phase: decision.phase, reason: decision.reason };
  input.record = again;
  const second = derivePhase(input);
  if (second.phase !== decision.phase)
    expect.fail(
      `${record.phase}/${record.desired} -> ${decision.phase} (${decision.rule}) -> ${second.phase} (${second.rule}): ${JSON.stringify(input.observation)}`,
    );
  if (typeof record.deadline?.deadlineAt !== "number") {
    const now = input.now;
    input.record = record;
    input.now = LATER;
    const later = derivePhase(input);
    input.now = now;
    if (later.phase !== decision.phase) expect.fail(`time alone moved ${record.phase} to ${later.phase}`);
  }
  input.record = record;
}

describe("the rule table", () => {
  it("gives every rule a name of its own, a condition and a rationale", () => {
    expect(new Set(phaseRules.map(({ name }) => name)).size).toBe(phaseRules.length);
    for (const rule of phaseRules) {
      expect(rule.condition.length).toBeGreaterThan(10);
      expect(rule.rationale.length).toBeGreaterThan(30);
      expect(rule.uses.length).toBeGreaterThan(0);
    }
  });

  it("decides every combination of record phase, intent and facts by one named rule, to a fixed point", () => {
    for (const observation of observations())
      for (const phase of phases)
        for (const desired of intents) check({ record: { phase, desired, since: 0 }, observation, now: NOW });
  }, 120_000);

  it("does so with sessions, policies, admission, deadlines and the age of the observation as well", () => {
    const sessions: readonly (Session | null)[] = [null, { connected: true }];
    let skipped = 0;
    for (const observation of observations()) {
      // The facts are covered above: one in 23 of them, crossed with everything else.
      skipped += 1;
      if (skipped % 23 !== 0) continue;
      for (const phase of phases)
        for (const session of sessions)
          for (const requireSession of [false, true])
            for (const deadline of deadlines)
              check({
                record: {
                  phase,
                  desired: "running",
                  since: 0,
                  deadline,
                  admission: skipped % 2 === 0 ? "accepted" : "pending",
                  exitCode: skipped % 3 === 0 ? 1 : null,
                },
                observation,
                session,
                now: NOW,
                policy: { requireSession },
              });
    }
  }, 120_000);

  it("does so for observations older than the record, and for a driver that removes compute on stop", () => {
    let skipped = 0;
    for (const observation of observations()) {
      skipped += 1;
      if (skipped % 7 !== 0) continue;
      for (const phase of phases)
        check({ record: { phase, desired: "running", since: NOW + 1 }, observation, now: NOW });
    }
    const gone = { ...present(NOW), exists: false };
    for (const phase of phases)
      for (const desired of intents)
        check({
          record: { phase, desired, since: 0 },
          observation: gone,
          now: NOW,
          policy: { removesComputeOnStop: true },
        });
    for (const phase of phases)
      for (const desired of intents)
        check({ record: { phase, desired, since: 0 }, observation: null, now: NOW });
  }, 120_000);

  it("has no rule that nothing reaches", () => {
    expect(phaseRules.map(({ name }) => name).filter((name) => !reached.has(name))).toEqual([]);
  });

  it("indexes the table without changing its answer", () => {
    let turn = 0;
    for (const observation of observations())
      for (const desired of intents) {
        const phase = phases[turn++ % phases.length]!;
        const record: SandboxRecord = { phase, desired, since: 0 };
        const context = { record, observation, session: null, live: false, now: NOW, policy: undefined };
        const first = phaseRules.find((rule) => rule.when(context))!;
        const { rule } = derivePhase({ record, observation, now: NOW });
        if (rule !== first.name) expect.fail(`the index finds ${rule}, the table ${first.name}`);
      }
  }, 120_000);

  it("comes to no phase that its row does not name", () => {
    const rows = new Map(phaseRules.map((rule) => [rule.name, rule]));
    for (const observation of observations())
      for (const phase of phases) {
        const decision = derivePhase({
          record: { phase, desired: "running", since: 0 },
          observation,
          now: NOW,
        });
        const named: readonly (Phase | "held")[] = rows.get(decision.rule)!.phases;
        if (!named.includes(decision.phase) && !(named.includes("held") && decision.phase === phase))
          expect.fail(`${decision.rule} came to ${decision.phase}`);
      }
  }, 120_000);
});
