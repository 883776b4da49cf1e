import { describe, expect, it } from "vitest";
import { describeReason, type ReasonCatalog, sandboxReasons, sanitizeReason } from "../conditions/index.js";
import { derivePhase, type PhaseDecision } from "./derive-phase.js";
import type { PhaseInput } from "./evidence.js";
import { absent, present, unobserved, type Observation } from "./observation.js";
import { backendWords } from "./reasons.js";
import { reconcileRecord } from "./reconcile-record.js";
import type { SandboxRecord } from "./record.js";

const NOW = 1_000_000;
const record = (phase: SandboxRecord["phase"], more: Partial<SandboxRecord> = {}): SandboxRecord => ({
  phase,
  desired: "running",
  since: 0,
  ...more,
});
const up: Observation = { ...present(NOW), running: true, ready: true, readiness: "signal" };
const empty: Observation = {
  ...present(NOW),
  running: false,
  ready: false,
  suspended: true,
  workload: "absent",
};

function decide(
  from: SandboxRecord,
  observation: Observation | null,
  more: Partial<PhaseInput> = {},
): PhaseDecision {
  return derivePhase({ record: from, observation, now: NOW, ...more });
}

describe("what an observation leaves out", () => {
  const unknown: Observation = {
    ...unobserved(null),
    terminating: null,
    suspended: null,
    completed: null,
    stale: false,
  };
  const ended: Observation = {
    ...present(NOW),
    running: false,
    completed: true,
    exitCode: 0,
    finishedAt: NOW - 1,
  };
  const phases = ["Provisioning", "Starting", "Ready", "Stopping", "Stopped", "Completed", "Error"] as const;

  it.each(Object.keys(unknown) as (keyof Observation)[])("is unknown: %s", (field) => {
    for (const observation of [up, empty, ended, absent(NOW)]) {
      const rest = Object.fromEntries(Object.entries(observation).filter(([name]) => name !== field));
      for (const phase of phases) {
        const from = record(phase, {
          desired: phase.startsWith("Stop") ? "stopped" : "running",
          ...(phase === "Completed" ? { exitCode: 0, finishedAt: NOW - 1 } : {}),
        });
        const expected = reconcileRecord(from, { ...observation, [field]: unknown[field] }, null, NOW);
        for (const partial of [rest, { ...rest, [field]: undefined }]) {
          const { record: next, decision } = reconcileRecord(from, partial as never, null, NOW);
          expect([decision.phase, decision.rule]).toEqual([expected.decision.phase, expected.decision.rule]);
          expect(next).toEqual(expected.record);
        }
      }
    }
  });

  it("may be everything", () => {
    for (const phase of phases)
      expect(decide(record(phase), {} as Observation).phase).toBe(decide(record(phase), unknown).phase);
  });
});

describe("a decision", () => {
  it("names its rule, what it looked at, and allocates nothing for evidence that was not rejected", () => {
    const first = decide(record("Starting"), up);
    expect(first).toMatchObject({ phase: "Ready", reason: "DependenciesReady", rule: "ready", stale: false });
    expect(first.used).toContain("ready");
    expect(first.rejected).toBe(decide(record("Starting"), up).rejected);
    expect(first.rejected).toEqual([]);
    expect(first.conditions).toEqual([expect.objectContaining({ type: "Ready", status: "True" })]);
  });

  it.each<[string, () => PhaseDecision, string, RegExp]>([
    ["a failed look-up", () => decide(record("Ready"), null), "exists", /look-up failed/],
    ["an unanswered one", () => decide(record("Ready"), unobserved(null)), "exists", /look-up failed/],
    [
      "another run",
      () => decide(record("Starting"), { ...up, stale: true }),
      "stale",
      /another run or generation/,
    ],
    [
      "conditions that are behind",
      () => decide(record("Ready"), { ...up, behind: true }),
      "evidence",
      /older generation/,
    ],
    [
      "readiness without a workload",
      () => decide(record("Ready"), { ...empty, ready: true }),
      "ready",
      /without a workload/,
    ],
    [
      "an end behind a live workload",
      () => decide(record("Ready"), { ...up, completed: true }),
      "completed",
      /may execute/,
    ],
    [
      "another run's session",
      () =>
        decide(record("Ready", { instanceId: "a" }), up, { session: { connected: true, instanceId: "b" } }),
      "session",
      /another run/,
    ],
    ["a result that seems to live", () => decide(record("Completed"), up), "running", /accepted operation/],
    [
      "a workload behind a stop",
      () => decide(record("Stopped", { desired: "stopped" }), up),
      "running",
      /not a phase/,
    ],
    [
      "emptiness that is old",
      () => decide(record("Ready", { since: NOW + 1 }), empty),
      "suspended",
      /older than the record/,
    ],
    [
      "emptiness during a bootstrap",
      () => decide(record("Ready"), { ...empty, bootstrapping: true }),
      "suspended",
      /bootstrap/,
    ],
    [
      "a stale Suspended",
      () => decide(record("Ready"), { ...up, suspended: true }),
      "suspended",
      /rule ready stands above/,
    ],
  ])("says why it left out %s", (_what, decision, fact, why) => {
    const found = decision().rejected.find((one) => one.fact === fact);
    expect(found?.why).toMatch(why);
  });

  it.each<[string, () => PhaseDecision, readonly string[]]>([
    ["a sandbox that has just stopped", () => decide(record("Ready"), empty), ["session-cleanup"]],
    ["one that stays stopped", () => decide(record("Stopped"), empty), []],
    [
      "a workload behind a stop",
      () => decide(record("Stopped", { desired: "stopped" }), up),
      ["stop-workload"],
    ],
    [
      "old news behind a stop",
      () => decide(record("Stopped", { desired: "stopped" }), { ...up, stale: true }),
      [],
    ],
    [
      "a deadline that nobody ticked",
      () => decide(record("Starting", { deadline: { deadlineAt: NOW } }), up),
      ["expire-deadline"],
    ],
    ["an orphan", () => decide(record("Provisioning"), absent(NOW)), ["prune-candidate"]],
    [
      "an infrastructure error without an object",
      () => decide(record("Error", { reason: "ImagePullFailed" }), absent(NOW)),
      ["prune-candidate"],
    ],
    [
      "a failed run without an object",
      () => decide(record("Error", { reason: "MainProcessFailed", exitCode: 1 }), absent(NOW)),
      [],
    ],
    [
      "an expired attempt without an object",
      () => decide(record("Error", { reason: "ProvisioningTimedOut" }), absent(NOW)),
      [],
    ],
    [
      "a Ready sandbox whose object went away",
      () => decide(record("Ready"), absent(NOW)),
      ["prune-candidate"],
    ],
    ["an Unknown one", () => decide(record("Unknown"), absent(NOW)), ["prune-candidate"]],
    ["a start under way without an object yet", () => decide(record("Starting"), absent(NOW)), []],
    [
      "a deadline that nobody ticked in time",
      () => decide(record("Provisioning", { deadline: { deadlineAt: NOW } }), present(NOW)),
      ["expire-deadline"],
    ],
    ["a sandbox that lives", () => decide(record("Ready"), up), []],
    ["a delete that is done", () => decide(record("Deleting", { desired: "deleted" }), absent(NOW)), []],
  ])("asks for the right work for %s", (_what, decision, effects) => {
    expect(decision().effects).toEqual(effects);
  });

  it.each<[string, () => PhaseDecision]>([
    ["a workload that is ready", () => decide(record("Ready"), up)],
    [
      "an end where nothing executes",
      () => decide(record("Ready"), { ...empty, suspended: false, completed: true }),
    ],
    [
      "the session of this run",
      () =>
        decide(record("Ready", { instanceId: "a" }), up, { session: { connected: true, instanceId: "a" } }),
    ],
    ["a session that is over", () => decide(record("Ready"), up, { session: { connected: false } })],
    ["a suspension that was asked for", () => decide(record("Stopping", { desired: "stopped" }), empty)],
    ["an empty backend", () => decide(record("Ready"), empty)],
    ["a result that nothing contradicts", () => decide(record("Completed"), { ...empty, suspended: false })],
    ["a stop that nothing contradicts", () => decide(record("Stopped", { desired: "stopped" }), empty)],
  ])("leaves nothing out of %s", (_what, decision) => {
    expect(decision().rejected).toEqual([]);
  });

  it("says what the evidence said that it left out", () => {
    const backend = { ...up, behind: true, backendReason: "DependenciesReady" };
    expect(decide(record("Ready"), backend).rejected).toEqual([
      { fact: "evidence", value: "DependenciesReady", why: expect.stringMatching(/older generation/) },
    ]);
    const other = { connected: true, instanceId: "b" };
    expect(decide(record("Ready", { instanceId: "a" }), up, { session: other }).rejected).toEqual([
      { fact: "session", value: "b", why: expect.stringMatching(/another run/) },
    ]);
    expect(decide(record("Ready"), null).rejected).toEqual([
      { fact: "exists", value: null, why: expect.stringMatching(/look-up failed/) },
    ]);
    const both = { ...empty, ready: true, completed: true, running: true, suspended: false };
    expect(decide(record("Ready"), both).rejected).toEqual([
      { fact: "completed", value: true, why: expect.stringMatching(/may execute/) },
    ]);
  });

  it.each<[string, boolean, () => PhaseDecision]>([
    [
      "a stop that is confirmed to go on",
      false,
      () => decide(record("Stopping", { desired: "stopped" }), up),
    ],
    [
      "a stop that nobody can confirm",
      true,
      () => decide(record("Stopping", { desired: "stopped" }), { ...up, running: null, ready: null }),
    ],
    [
      "a result that the object confirms",
      false,
      () => decide(record("Completed"), { ...up, completed: true }),
    ],
    ["a result whose object lives again", true, () => decide(record("Completed"), up)],
    ["evidence that is behind", true, () => decide(record("Ready"), { ...up, behind: true })],
    ["evidence of the present", false, () => decide(record("Ready"), up)],
  ])("of %s is stale: %s", (_what, stale, decision) => {
    expect(decision().stale).toBe(stale);
  });

  it("gives the reason that explains a wait best", () => {
    const from = record("Provisioning");
    expect(decide(from, up, { policy: { requireSession: true } }).reason).toBe("SupervisorNotConnected");
    expect(decide({ ...from, admission: "pending" }, up).reason).toBe("ConfigurationPending");
    expect(decide({ ...from, admission: "rejected" }, up).reason).toBe("ConfigurationInvalid");
    const waiting = { ...up, running: false, ready: false };
    expect(
      decide(from, { ...waiting, failureReason: "ImagePullFailed", failureClass: "transient" }).reason,
    ).toBe("ImagePullFailed");
    // A word that no catalog knows is a newer backend's.
    expect(decide(from, { ...waiting, backendReason: "ContainerThawing" }).reason).toBe("ContainerThawing");
    // Raw words that are no reasons stay out of the conditions.
    for (const backendReason of ["created", "Not started", "PAUSED_STARTING_UP", null])
      expect(decide(from, { ...waiting, backendReason }).reason).toBe("DependenciesNotReady");
    expect(decide(record("Starting"), waiting).reason).toBe("Starting");
  });

  const isWaiting = (phase: string): boolean => phase === "Provisioning" || phase === "Starting";

  it("publishes a backend's word by both of its names, the one of contract 1 as the reason", () => {
    const waiting = { ...up, running: false, ready: false };
    const reasons: ReasonCatalog["reasons"] = sandboxReasons.reasons;
    for (const [reason, { renamed = [], literal = [], phases }] of Object.entries(backendWords)) {
      const backends = (reasons[reason]?.sources ?? []).map(({ backend }) => backend);
      // A reason that does not sit on Ready explains none of its phases.
      const allowed = reasons[reason]?.types.includes("Ready") === true ? reasons[reason].phases : [];
      for (const phase of ["Provisioning", "Starting", "Stopping", "Error"] as const)
        expect([reason, phase, phases.includes(phase)]).toEqual([
          reason,
          phase,
          allowed?.includes(phase) ?? true,
        ]);
      for (const backendReason of [...renamed, ...literal]) {
        const meanings = backends.map(
          (backend) => describeReason(backendReason, { catalog: sandboxReasons, backend }).name,
        );
        expect(meanings).toContain(reason);
        for (const phase of ["Provisioning", "Starting"] as const) {
          const { conditions, ...decision } = decide(record(phase), { ...waiting, backendReason });
          const fallback = phase === "Starting" ? "Starting" : "DependenciesNotReady";
          const isEnd = !["Stopping", "Suspended"].includes(reason) && !phases.some(isWaiting);
          const isRenamed = renamed.includes(backendReason);
          const said = isEnd ? fallback : isRenamed ? reason : backendReason;
          expect(decision).toMatchObject({ phase, reason: said });
          const other = said !== backendReason ? backendReason : phases.includes(phase) ? reason : undefined;
          const cause = other && { reason: sanitizeReason(other), message: "" };
          expect(conditions[0]).toEqual(expect.objectContaining({ reason: said, cause }));
        }
      }
    }
  });

  it("gives a record without a reason one of the catalog's", () => {
    for (const phase of ["Error", "Completed"] as const) {
      for (const desired of ["running", "stopped"] as const) {
        const { reason } = decide(record(phase, { desired, reason: null }), { ...up, running: false });
        expect(Object.keys(sandboxReasons.reasons)).toContain(reason);
      }
    }
  });

  it("writes another word of the backend, and the same word once", () => {
    const waiting = { ...up, running: false, ready: false };
    const seen = (backendReason: string): Observation => ({ ...waiting, backendReason });
    const first = reconcileRecord(record("Provisioning"), seen("PodInitializing"), null, NOW).record;
    expect(first.conditions).toMatchObject([
      { reason: "ContainerStarting", cause: { reason: "PodInitializing", message: "" } },
    ]);
    expect(reconcileRecord(first, seen("PodInitializing"), null, NOW + 1).record).toBe(first);
    const next = reconcileRecord(first, seen("ContainerCreating"), null, NOW + 2);
    expect(next.changed).toBe(true);
    expect(next.record.conditions).toMatchObject([{ cause: { reason: "ContainerCreating" } }]);
  });

  it("names the timeout by the deadline's phase, or as the deadline says", () => {
    const over = (more: object): string =>
      decide(record("Starting", { deadline: { deadlineAt: NOW, ...more } }), up).reason;
    expect(over({ lastPhase: true })).toBe("ProvisioningTimedOut");
    expect(over({ lastPhase: false })).toBe("ImagePreparationTimedOut");
    expect(over({ timeoutReason: "BootTimedOut" })).toBe("BootTimedOut");
    expect(decide(record("Unknown", { deadline: { deadlineAt: NOW } }), up)).toMatchObject({
      phase: "Error",
      rule: "deadline-over-late",
    });
  });

  it("tells a paused unit from an empty backend", () => {
    expect(decide(record("Ready"), empty).reason).toBe("BackendEmpty");
    expect(decide(record("Ready"), { ...empty, workload: "present" }).reason).toBe("Suspended");
  });

  it("lets a live session outrank emptiness, lag and silence, but nothing terminal", () => {
    const session = { connected: true };
    expect(decide(record("Provisioning"), empty, { session }).phase).toBe("Ready");
    expect(decide(record("Ready"), { ...up, ready: false }, { session }).phase).toBe("Ready");
    expect(decide(record("Unknown"), { ...up, running: null }, { session }).phase).toBe("Ready");
    expect(
      decide(
        record("Ready"),
        { ...up, running: null, failureReason: "NodeLost", failureClass: "transient" },
        { session },
      ).phase,
    ).toBe("Ready");
    expect(decide(record("Ready"), { ...up, failureClass: "terminal" }, { session }).phase).toBe("Error");
    expect(decide(record("Starting"), { ...up, stale: true }, { session }).phase).toBe("Starting");
  });

  it.each(["Provisioning", "Unknown", "Ready"] as const)(
    "holds %s over a stop that is being carried out, though nobody can see whether anything executes still",
    (phase) => {
      const silent: Observation = { ...up, running: null, ready: false, terminating: true };
      const held = decide(record(phase), silent, { session: { connected: true } });
      expect(held).toMatchObject({ phase, rule: "unreadable" });
    },
  );
});

describe("reconciling", () => {
  it("records the end with the phase, first code first, and keeps the very record when nothing changes", () => {
    const ended: Observation = {
      ...up,
      running: false,
      ready: false,
      completed: true,
      exitCode: 3,
      finishedAt: 500,
      failureReason: "ProcessExited",
      failureClass: "terminal",
    };
    const first = reconcileRecord(record("Ready", { instanceId: "a" }), ended, null, NOW);
    expect(first.record).toMatchObject({
      phase: "Error",
      since: NOW,
      exitCode: 3,
      finishedAt: 500,
      instanceId: "a",
      reason: "ProcessExited",
    });
    const second = reconcileRecord(first.record, { ...ended, exitCode: 9 }, null, NOW + 1);
    expect(second).toMatchObject({ changed: false });
    expect(second.record).toBe(first.record);
  });

  it("moves neither since nor the transition time for a new reason alone", () => {
    const waiting: Observation = { ...up, running: false, ready: false };
    const first = reconcileRecord(record("Provisioning"), waiting, null, NOW).record;
    const pulling = { ...waiting, failureReason: "ImagePullFailed", failureClass: "transient" } as const;
    const second = reconcileRecord(first, pulling, null, NOW + 60_000).record;
    expect(second).toMatchObject({ phase: "Provisioning", since: 0, reason: "ImagePullFailed" });
    expect(second.conditions?.[0]?.lastTransitionTime).toBe(first.conditions?.[0]?.lastTransitionTime);
  });

  it("forgets the result of the run before once the next one is ready, and takes its identity over", () => {
    const from = record("Starting", { instanceId: "a", expectedInstanceId: "b", exitCode: 1, finishedAt: 5 });
    const { record: next } = reconcileRecord(from, up, { connected: true, instanceId: "b" }, NOW);
    expect(next).toMatchObject({
      phase: "Ready",
      instanceId: "b",
      expectedInstanceId: null,
      exitCode: null,
      finishedAt: null,
    });
  });

  it("publishes an unknown readiness as Unknown", () => {
    const lost = {
      ...up,
      running: null,
      ready: null,
      failureReason: "NodeLost",
      failureClass: "transient",
    } as const;
    const { record: next } = reconcileRecord(record("Ready"), lost, null, NOW);
    expect(next.conditions?.[0]).toMatchObject({ type: "Ready", status: "Unknown", reason: "NodeLost" });
  });
});

describe("a start under way", () => {
  const exited: Observation = {
    ...present(NOW),
    running: false,
    ready: false,
    completed: true,
    exitCode: 1,
    failureReason: "ContainerExited",
    failureClass: "terminal",
  };

  it("of a record that has an exit code already is an automatic restart: that end is no news", () => {
    expect(decide(record("Starting", { exitCode: 1, instanceId: "i-1" }), exited)).toMatchObject({
      phase: "Starting",
      rule: "restart-pending",
    });
    expect(decide(record("Starting", { exitCode: null }), exited).phase).toBe("Error");
    expect(decide(record("Ready", { exitCode: 1 }), exited).phase).toBe("Error");
    const known = record("Starting", { exitCode: 1, finishedAt: 10 });
    expect(decide(known, { ...exited, finishedAt: 10 }).phase).toBe("Starting");
    expect(decide(known, { ...exited, finishedAt: 5000 }).phase).toBe("Error");
    expect(decide(known, { ...exited, exitCode: 137, failureReason: "Evicted" }).phase).toBe("Error");
    expect(decide(known, { ...exited, exitCode: null }).phase).toBe("Starting");
    const over = { deadlineAt: NOW, lastPhase: true };
    expect(decide(record("Starting", { exitCode: 1, deadline: over }), exited).phase).toBe("Error");
  });
});

describe("a node that does not report", () => {
  it.each(["Starting", "Provisioning", "Ready", "Unknown"] as const)(
    "is decided at once also where a session lives: %s",
    (phase) => {
      const lost: Observation = {
        ...present(NOW),
        running: null,
        failureReason: "NodeLost",
        failureClass: "transient",
      };
      const session = { connected: true };
      const first = decide(record(phase), lost, { session }).phase;
      expect(decide(record(first), lost, { session }).phase).toBe(first);
      expect(decide(record(phase), lost).phase).toBe("Unknown");
    },
  );
});

describe("a deadline in an earlier phase", () => {
  it.each([null, NOW + 1000])("forbids Ready, whether it has an end or none: %o", (deadlineAt) => {
    const early = record("Provisioning", { deadline: { deadlineAt, lastPhase: false } });
    expect(decide(early, up).phase).toBe("Provisioning");
    const session = { connected: true };
    expect(decide(early, up, { session }).phase).toBe("Provisioning");
    const last = record("Provisioning", { deadline: { deadlineAt, lastPhase: true } });
    expect(decide(last, up, { session }).phase).toBe("Ready");
  });
});
