import { describe, expect, it } from "vitest";
import { decide, empty, NOW, record, up } from "../../test/phase/decisions.js";
import type { PhaseDecision } from "./derive-phase.js";
import { absent, present, unobserved, type Observation } from "./observation.js";

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
