import { describe, expect, it } from "vitest";
import { mine, others, record, seen } from "../../test/phase/sweeps.js";
import { absent, type Observation } from "./observation.js";
import { phases, type Phase } from "./phase.js";
import type { DesiredState, SandboxRecord } from "./record.js";
import { applyRecovery, planRecovery } from "./recovery.js";

const FAILED = { failureReason: "ContainerStartFailed", failureClass: "terminal" } as const;

describe("a plan for the start of a gateway", () => {
  const withCalls: readonly (readonly [Phase, "start" | "stop" | null, "start" | "stop" | null])[] = [
    ["Provisioning", null, "start"],
    ["Starting", "start", "start"],
    ["Ready", null, "start"],
    ["Unknown", null, "start"],
    ["Stopping", "stop", "stop"],
    ["Stopped", null, null],
    ["Completed", null, null],
    ["Error", null, null],
    ["Deleting", null, null],
    ["Deleted", null, null],
  ];
  it("has a row here for every phase", () => {
    expect(withCalls.map(([phase]) => phase).sort()).toEqual([...phases].sort());
  });

  it.each(withCalls)("of %s that is to run calls %s, or %s where it manages the lifecycle", (phase, a, b) => {
    const from = record(phase);
    const sessionCleanup = phase === "Stopped";
    expect(planRecovery(from, others)).toEqual({ call: a, record: from, changed: false, sessionCleanup });
    expect(planRecovery(from, mine)).toEqual({ call: b, record: from, changed: false, sessionCleanup });
    expect(planRecovery(from, mine).record).toBe(from);
  });

  it.each(["stopped", "deleted"] as const)(
    "starts nothing that is to be %s, and finishes a stop",
    (desired) => {
      for (const phase of phases) {
        const call = phase === "Stopping" ? "stop" : null;
        expect(planRecovery(record(phase, { desired: desired satisfies DesiredState }), mine).call).toBe(
          call,
        );
      }
    },
  );

  it("starts again what its runtime ended, and what the policy names", () => {
    const failed = (reason: string | null, exitCode: number | null = null): SandboxRecord =>
      record("Error", { reason, exitCode });
    for (const reason of ["ContainerRuntimeRestart", "ContainerStopped"]) {
      expect(planRecovery(failed(reason), mine).call).toBe("start");
      expect(planRecovery(failed(reason, 0), mine).call).toBeNull();
      expect(planRecovery(failed(reason), others).call).toBeNull();
    }
    const policy = { recoverable: ["Evicted"] };
    expect(planRecovery(failed("Evicted", 137), { ...mine, policy }).call).toBe("start");
    expect(planRecovery(failed("NodeLost"), { ...mine, policy }).call).toBeNull();
    expect(planRecovery(failed("Evicted"), mine).call).toBeNull();
    expect(planRecovery(failed(null), { ...mine, policy }).call).toBeNull();
    // A backend's word is the reason that it means.
    expect(planRecovery(failed("Preempting"), { ...mine, policy: { recoverable: ["Preempted"] } }).call).toBe(
      "start",
    );
  });

  it("calls nothing for what a look finds to have failed, and says so", () => {
    for (const phase of ["Ready"] as const) {
      const plan = planRecovery(record(phase), { ...mine, observation: absent(null) });
      expect(plan).toMatchObject({ call: null, changed: true, sessionCleanup: true });
      expect(plan.record).toMatchObject({ phase: "Error", reason: "ComputeResourceMissing" });
    }
    const refused = planRecovery(record("Starting"), {
      ...mine,
      observation: seen({ running: false, ...FAILED }),
    });
    expect(refused.record).toMatchObject({ phase: "Error", reason: "ContainerStartFailed" });
  });

  it("goes by its record where a look finds anything else", () => {
    // What is seen makes Provisioning of Ready: the start that is due does that too.
    const ready = record("Ready");
    const found = seen({ running: true, ready: false, readiness: "signal" });
    expect(planRecovery(ready, { ...mine, observation: found })).toEqual({
      call: "start",
      record: ready,
      changed: false,
      sessionCleanup: false,
    });
    const failed = record("Error", { reason: "ContainerStopped" });
    expect(planRecovery(failed, { ...mine, observation: absent(null) })).toMatchObject({
      record: failed,
      changed: false,
    });
  });

  it.each([
    [0, "Completed"],
    [1, "Error"],
  ] as const)("does not replay a run whose end only the backend shows: code %i", (exitCode, phase) => {
    const observation = seen({ running: false, ready: false, completed: true, exitCode, finishedAt: 5 });
    expect(planRecovery(record("Ready"), { ...mine, observation })).toMatchObject({
      call: null,
      changed: true,
      record: { phase, exitCode },
      sessionCleanup: true,
    });
    // One that is at rest is what the gateway left, and is started.
    const rest = seen({ running: false, ready: false, suspended: true, workload: "absent" });
    expect(planRecovery(record("Ready"), { ...mine, observation: rest }).call).toBe("start");
  });

  it.each<[string, Partial<SandboxRecord>, Partial<Observation>, Phase | null]>([
    ["no time and no instance", {}, {}, null],
    [
      "no time and no instance, a failure",
      {},
      { exitCode: 1, failureReason: "Killed", failureClass: "terminal" },
      null,
    ],
    ["a time before the start", {}, { finishedAt: 4_999 }, null],
    ["the time of the end before", { previousFinishedAt: 5_500 }, { finishedAt: 5_500 }, null],
    ["a time after the start", {}, { finishedAt: 5_001 }, "Completed"],
    ["a time after the start, a failure", {}, { finishedAt: 5_001, exitCode: 1 }, "Error"],
    ["the instance that was asked for", { expectedInstanceId: "i-2" }, { instanceId: "i-2" }, "Completed"],
    ["the instance of before", { expectedInstanceId: "i-1" }, { instanceId: "i-1" }, null],
  ])("takes an end for that of a start under way by what is known of it: %s", (_what, more, look, phase) => {
    const starting = record("Starting", { startRequestedAt: 5_000, instanceId: "i-1", ...more });
    const observation = seen({ running: false, completed: true, exitCode: 0, ...look });
    for (const options of [mine, others]) {
      const plan = planRecovery(starting, { ...options, observation });
      if (phase === null)
        expect(plan).toEqual({ call: "start", record: starting, changed: false, sessionCleanup: false });
      else expect(plan).toMatchObject({ call: null, changed: true, record: { phase } });
    }
  });

  it.each(["Provisioning", "Starting", "Ready", "Unknown"] as const)(
    "a %s record loses nothing to a look from before its last write or start",
    (phase) => {
      for (const more of [{ since: 5 }, { updatedAt: 5 }, { startRequestedAt: 5 }]) {
        const found = record(phase, { since: 1, ...more });
        const old = planRecovery(found, { ...mine, observation: { ...absent(4), bootstrapping: false } });
        expect(old).toMatchObject({ call: "start", record: { phase }, changed: false });
        expect(planRecovery(found, { ...others, observation: absent(4) }).record).toBe(found);
      }
    },
  );

  it("an end that was seen counts however early: nothing is replayed that a backend shows as completed", () => {
    const ended = seen({ running: false, completed: true, exitCode: 0, observedAt: 4 });
    expect(planRecovery(record("Ready", { since: 5 }), { ...mine, observation: ended })).toMatchObject({
      call: null,
      record: { phase: "Completed" },
    });
  });

  it("a look from the moment of the last write, or later, tells of a loss", () => {
    const found = record("Ready", { since: 5, updatedAt: 5, startRequestedAt: 5 });
    for (const at of [5, 6, null])
      expect(planRecovery(found, { ...mine, observation: absent(at) }).record.phase).toBe("Error");
  });

  it("starts again at once what only the look shows that its runtime ended, as it would from the record", () => {
    for (const reason of ["ContainerRuntimeRestart", "ContainerStopped"]) {
      const look = seen({ running: false, failureReason: reason, failureClass: "terminal" });
      const plan = planRecovery(record("Ready"), { ...mine, observation: look });
      expect(plan).toMatchObject({ call: "start", changed: true, record: { phase: "Error", reason } });
      expect(planRecovery(plan.record, { ...mine, observation: look }).call).toBe("start");
      expect(applyRecovery(plan.record, "start", "ok", mine).record).toMatchObject({
        phase: "Provisioning",
        reason: "Resumed",
      });
      expect(planRecovery(record("Starting"), { ...others, observation: look }).call).toBeNull();
      const coded = seen({ ...look, completed: true, exitCode: 143, finishedAt: 5 });
      expect(planRecovery(record("Ready"), { ...mine, observation: coded }).call).toBeNull();
    }
  });

  it("finishes a stop whatever is seen", () => {
    const stopping = record("Stopping", { desired: "stopped" });
    for (const observation of [absent(null), seen({ running: false, ...FAILED }), seen({ running: true })]) {
      const plan = planRecovery(stopping, { ...mine, observation });
      expect(plan).toEqual({ call: "stop", record: stopping, changed: false, sessionCleanup: false });
    }
  });
});
