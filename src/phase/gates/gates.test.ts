import { describe, expect, it } from "vitest";
import {
  allowedOperations,
  deleteRules,
  startRules,
  stopRules,
  type GateInput,
  type Operation,
} from "./index.js";
import { absent, present, type Observation } from "../observation.js";
import { phases, type Phase } from "../phase.js";
import { restartableReasons } from "../reasons.js";
import type { SandboxRecord } from "../record.js";

const record = (phase: Phase, more: Partial<SandboxRecord> = {}): SandboxRecord => ({
  phase,
  desired: "running",
  since: 0,
  ...more,
});
const seen = (more: Partial<Observation>): Observation => ({ ...present(null), ...more });
const empty = seen({ suspended: true, running: false, bootstrapping: false });
const deadline = (cleanupPending?: boolean): Partial<SandboxRecord> => ({
  deadline: { deadlineAt: 5, cleanupPending },
});
const policy = { recoverable: ["Evicted", "MainProcessCompleted"] };

type Case = readonly [rule: string, answer: string, record: SandboxRecord, more?: Partial<GateInput>];

/** The rule that decides, and its route or its reason. */
function decided(
  operation: Operation,
  from: SandboxRecord,
  more: Partial<GateInput> = {},
): readonly string[] {
  const gate = allowedOperations({ record: from, by: "user", now: 9, ...more })[operation];
  return [gate.rule, gate.allowed ? gate.route : gate.reason];
}

const automatic = { by: "automatic" } as const;
const starts: readonly Case[] = [
  ["start-while-deleting", "Deleting", record("Deleting")],
  ["start-while-deleting", "Deleting", record("Deleted")],
  ["start-while-deleting", "Deleting", record("Ready", { desired: "deleted" })],
  ["start-ready", "noop", record("Ready")],
  ["start-ready", "noop", record("Ready", { desired: "stopped" })],
  ["start-while-stopping", "Stopping", record("Stopping", { desired: "stopped" })],
  ["start-while-stopping", "Stopping", record("Stopping"), { backendMatches: false }],
  ["start-backend-mismatch", "IsolationBackendMismatch", record("Stopped"), { backendMatches: false }],
  ["start-backend-mismatch", "IsolationBackendMismatch", record("Starting"), { backendMatches: false }],
  [
    "start-backend-mismatch",
    "IsolationBackendMismatch",
    record("Error", { reason: "IsolationBackendMismatch" }),
  ],
  [
    "start-backend-mismatch",
    "IsolationBackendMismatch",
    record("Error", { reason: "IsolationBackendMismatch" }),
    { backendMatches: null },
  ],
  ["start-running", "noop", record("Starting"), { observation: seen({ running: true }) }],
  ["start-retry", "retry", record("Starting")],
  ["start-retry", "retry", record("Starting"), { observation: seen({ running: false }) }],
  ["start-retry", "retry", record("Starting"), { observation: seen({ running: true, stale: true }) }],
  ["start-retry", "retry", record("Starting", deadline(true))],
  ["start-cleanup-pending", "CleanupPending", record("Stopped", deadline(true))],
  ["start-cleanup-pending", "CleanupPending", record("Error", { reason: "Killed", ...deadline(true) })],
  [
    "start-cleanup-pending",
    "CleanupPending",
    record("Error", { reason: "ProvisioningTimedOut", ...deadline() }),
  ],
  [
    "start-cleanup-pending",
    "CleanupPending",
    record("Error", { reason: "ImagePreparationTimedOut", ...deadline() }),
  ],
  ["start-not-wanted", "AutomaticStartRefused", record("Stopped", { desired: "stopped" }), automatic],
  [
    "start-not-wanted",
    "AutomaticStartRefused",
    record("Error", { desired: "stopped", reason: "Evicted" }),
    { ...automatic, policy },
  ],
  ["start-recoverable", "restart", record("Error", { reason: "Evicted" }), { ...automatic, policy }],
  [
    "start-recoverable",
    "restart",
    record("Error", { reason: "TerminationByKubelet" }),
    { ...automatic, policy },
  ],
  [
    "start-recoverable",
    "restart",
    record("Completed", { reason: "MainProcessCompleted" }),
    { ...automatic, policy },
  ],
  ["start-recoverable", "restart", record("Stopped", { reason: "Evicted" }), { ...automatic, policy }],
  ["start-not-automatic", "AutomaticStartRefused", record("Stopped"), automatic],
  ["start-not-automatic", "AutomaticStartRefused", record("Completed"), automatic],
  [
    "start-not-automatic",
    "AutomaticStartRefused",
    record("Error", { reason: "NodeLost" }),
    { ...automatic, policy },
  ],
  [
    "start-not-automatic",
    "AutomaticStartRefused",
    record("Provisioning"),
    { ...automatic, observation: empty },
  ],
  ["start-fresh", "fresh", record("Stopped"), { observation: absent(null) }],
  ["start-stopped", "resume", record("Stopped")],
  ["start-stopped", "resume", record("Stopped", { reason: "ProvisioningTimedOut", ...deadline() })],
  ["start-stopped", "resume", record("Stopped"), { observation: seen({ running: false }) }],
  ["start-stopped", "resume", record("Stopped", { startRequestedAt: 1 }), { observation: absent(null) }],
  ["start-stopped", "resume", record("Stopped", { instanceId: "i-1" }), { observation: absent(null) }],
  ["start-stopped", "resume", record("Stopped", { finishedAt: 1 }), { observation: absent(null) }],
  // A reason that was written for another phase decides nothing here.
  ["start-stopped", "resume", record("Stopped", { reason: "IsolationBackendMismatch" })],
  ["start-stopped", "resume", record("Stopped"), { observation: seen({ running: true }) }],
  ["start-completed", "restart", record("Completed")],
  ["start-completed", "restart", record("Completed"), { observation: absent(null) }],
  ["start-after-timeout", "restart", record("Error", { reason: "ProvisioningTimedOut", ...deadline(false) })],
  ["start-after-timeout", "restart", record("Error", { reason: "ImagePreparationTimedOut" })],
  [
    "start-backend-restored",
    "restart",
    record("Error", { reason: "IsolationBackendMismatch" }),
    { backendMatches: true },
  ],
  ["start-after-failure", "restart", record("Error", { exitCode: 0, reason: "Whatever" })],
  ["start-after-failure", "restart", record("Error", { exitCode: 7 })],
  ["start-error", "NotRecoverable", record("Error", { reason: "Whatever" })],
  ["start-error", "NotRecoverable", record("Error", { reason: null })],
  ["start-error", "NotRecoverable", record("Error", { reason: "Whatever" }), { observation: empty }],
  ["start-empty", "resume", record("Provisioning"), { observation: empty }],
  ["start-empty", "resume", record("Unknown"), { observation: empty }],
  ["start-provisioning", "InProgress", record("Provisioning")],
  ["start-provisioning", "InProgress", record("Unknown")],
  ["start-provisioning", "InProgress", record("Provisioning"), { observation: seen({ running: true }) }],
  ["start-provisioning", "InProgress", record("Provisioning"), { observation: absent(null) }],
  [
    "start-provisioning",
    "InProgress",
    record("Provisioning", { reason: "IsolationBackendMismatch" }),
    { backendMatches: true },
  ],
  ["start-provisioning", "InProgress", record("Provisioning"), { observation: seen({ running: false }) }],
  ["start-provisioning", "InProgress", record("Provisioning"), { observation: { ...empty, stale: true } }],
  ["start-provisioning", "InProgress", record("Provisioning"), automatic],
  [
    "start-provisioning",
    "InProgress",
    record("Provisioning", { reason: "Evicted" }),
    { ...automatic, policy },
  ],
];

const stops: readonly Case[] = [
  ["stop-while-deleting", "Deleting", record("Deleting")],
  ["stop-while-deleting", "Deleting", record("Stopped", { desired: "deleted" })],
  ["stop-stopped", "noop", record("Stopped")],
  ["stop-stopped", "noop", record("Completed")],
  ["stop-stopped", "noop", record("Error", { exitCode: 0 })],
  ["stop-again", "retry", record("Stopping")],
  ["stop-anything", "stop", record("Error", { exitCode: null })],
  ["stop-anything", "stop", record("Error")],
  ["stop-anything", "stop", record("Ready", { exitCode: 0 })],
  ["stop-anything", "stop", record("Provisioning"), { observation: empty }],
  ["stop-anything", "stop", record("Starting")],
  ["stop-anything", "stop", record("Unknown")],
];

const deletes: readonly Case[] = [
  ["delete-lost", "retry", record("Deleting"), { observation: seen({ deleting: false }) }],
  [
    "delete-lost",
    "retry",
    record("Ready", { desired: "deleted" }),
    { observation: seen({ deleting: false }) },
  ],
  ["delete-again", "noop", record("Deleting"), { observation: seen({ deleting: true }) }],
  ["delete-again", "noop", record("Deleting"), { observation: seen({ deleting: null }) }],
  ["delete-again", "noop", record("Deleting"), { observation: absent(null) }],
  ["delete-again", "noop", record("Deleting")],
  ["delete-again", "noop", record("Deleted")],
  ["delete-anything", "delete", record("Ready"), { observation: seen({ deleting: false }) }],
  ["delete-anything", "delete", record("Error")],
  ["delete-anything", "delete", record("Provisioning"), automatic],
];

describe.each([
  ["start", starts, startRules],
  ["stop", stops, stopRules],
  ["delete", deletes, deleteRules],
] as const)("the gate of %s", (operation, cases, rules) => {
  it.each(cases.map(([rule, answer, from, more]) => ({ rule, answer, from, more })))(
    "$rule: $answer for $from, $more",
    ({ rule, answer, from, more }) => {
      expect(decided(operation, from, more)).toEqual([rule, answer]);
    },
  );

  it("has a case here for each of its rules, in their order", () => {
    expect([...new Set(cases.map(([rule]) => rule))].sort()).toEqual(rules.map(({ name }) => name).sort());
    const firsts = rules.map(({ name }) => cases.findIndex(([rule]) => rule === name));
    expect(firsts).toEqual([...firsts].sort((a, b) => a - b));
  });

  it("says of itself what its decisions say", () => {
    for (const rule of rules) {
      expect(rule.operation).toBe(operation);
      expect((rule.route === null) === (rule.reason !== null)).toBe(true);
      expect(rule.condition).not.toBe("");
      expect(rule.rationale).toMatch(/[.)]$/);
    }
  });
});

describe("the gates", () => {
  it("open a start after every failure that ended the run", () => {
    for (const reason of restartableReasons)
      expect(decided("start", record("Error", { reason }))).toEqual(["start-after-failure", "restart"]);
  });

  it("tell people the phase and why", () => {
    const { start } = allowedOperations({ record: record("Stopping"), by: "user", now: 9 });
    expect(start).toMatchObject({
      message:
        "start is refused in phase Stopping: Something may still execute; stop may be asked for again, and start once it is `Stopped`.",
    });
  });

  it("leave a way out of every phase", () => {
    for (const phase of phases)
      expect(allowedOperations({ record: record(phase), by: "user", now: 9 }).delete.allowed).toBe(true);
  });
});

it.each(["automtic", "User", null, 1])("a `by` that is neither word opens nothing: %j", (by) => {
  const record = { phase: "Completed", desired: "running", since: 0 } as const;
  const ask = (): unknown => allowedOperations({ record, by: by as "user", now: 1 });
  expect(ask).toThrow(`by must be "user" or "automatic", got ${JSON.stringify(by)}`);
});
