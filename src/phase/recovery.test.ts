import { describe, expect, it } from "vitest";
import { absent, present, type Observation } from "./observation.js";
import { phases, type Phase } from "./phase.js";
import type { DesiredState, SandboxRecord } from "./record.js";
import { applyRecovery, planRecovery, planShutdown } from "./recovery.js";

const now = 9;
const mine = { managesLifecycle: true, now } as const;
const others = { managesLifecycle: false, now } as const;

const record = (phase: Phase, more: Partial<SandboxRecord> = {}): SandboxRecord => ({
  phase,
  desired: "running",
  since: 0,
  updatedAt: 0,
  ...more,
});
const seen = (more: Partial<Observation>): Observation => ({ ...present(null), ...more });
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

  it("finishes a stop whatever is seen", () => {
    const stopping = record("Stopping", { desired: "stopped" });
    for (const observation of [absent(null), seen({ running: false, ...FAILED }), seen({ running: true })]) {
      const plan = planRecovery(stopping, { ...mine, observation });
      expect(plan).toEqual({ call: "stop", record: stopping, changed: false, sessionCleanup: false });
    }
  });
});

describe("a recovery call", () => {
  it.each(["ok", "not-found"] as const)("finishes a stop: %s", (result) => {
    const { record: next, changed } = applyRecovery(
      record("Stopping", { desired: "stopped" }),
      "stop",
      result,
      mine,
    );
    const message = "Stopped; the gateway finished it when it came up.";
    expect(changed).toBe(true);
    expect(next).toMatchObject({
      phase: "Stopped",
      desired: "stopped",
      reason: "Stopped",
      message,
      since: now,
    });
  });

  it("keeps a stop that failed", () => {
    const stopping = record("Stopping", { desired: "stopped" });
    expect(applyRecovery(stopping, "stop", "error", mine)).toEqual({
      record: stopping,
      changed: false,
      refused: null,
    });
  });

  it("fences the run before off, with the last end that is known", () => {
    const started = (more: Partial<SandboxRecord>): SandboxRecord => {
      const result = applyRecovery(record("Ready", more), "start", "ok", mine);
      expect(result).toMatchObject({ changed: true, refused: null });
      return result.record;
    };
    const fence = {
      phase: "Ready",
      startRequestedAt: now,
      updatedAt: now,
      exitCode: null,
      finishedAt: null,
      since: 0,
    };
    expect(started({})).toMatchObject({ ...fence, previousFinishedAt: null });
    expect(started({ finishedAt: 4, exitCode: 1 })).toMatchObject({ ...fence, previousFinishedAt: 4 });
    expect(started({ finishedAt: 4, previousFinishedAt: 2 })).toMatchObject({
      ...fence,
      previousFinishedAt: 4,
    });
    expect(started({ previousFinishedAt: 2 })).toMatchObject({ ...fence, previousFinishedAt: 2 });
  });

  it("makes a start of an error that its runtime caused", () => {
    const failed = record("Error", { reason: "ContainerStopped", finishedAt: 4 });
    expect(applyRecovery(failed, "start", "ok", mine).record).toMatchObject({
      phase: "Provisioning",
      reason: "Resumed",
      message: "Started again after its runtime went down.",
      since: now,
      previousFinishedAt: 4,
    });
  });

  const missing = [
    "BackendResourceMissing",
    "The compute object was gone when the gateway came up.",
  ] as const;
  const refused = ["StartFailed", "The sandbox could not be started when the gateway came up."] as const;
  it.each([
    ["Ready", "not-found", mine, missing],
    ["Ready", "error", mine, refused],
    ["Provisioning", "not-found", mine, missing],
    ["Unknown", "error", mine, refused],
    ["Starting", "not-found", mine, missing],
    ["Starting", "not-found", others, null],
    ["Starting", "error", mine, null],
    ["Starting", "error", others, null],
    ["Error", "not-found", mine, null],
    ["Error", "error", mine, null],
  ] as const)("of %s that ends with %s (%j) is %j", (phase, result, options, outcome) => {
    const from = record(phase);
    const { record: next, changed, refused: why } = applyRecovery(from, "start", result, options);
    expect(why).toBeNull();
    expect(changed).toBe(outcome !== null);
    if (outcome === null) expect(next).toBe(from);
    else
      expect(next).toMatchObject({
        phase: "Error",
        reason: outcome[0],
        message: outcome[1],
        desired: "running",
      });
  });
});

describe("a plan for the end of a gateway", () => {
  it("stops what runs where it manages the lifecycle, and leaves every record as it is", () => {
    const runs: readonly Phase[] = ["Provisioning", "Starting", "Ready", "Unknown"];
    for (const phase of phases) {
      const from = record(phase);
      const call = runs.includes(phase) ? "stop" : null;
      expect(planShutdown(from, mine)).toEqual({ call, record: from, changed: false, sessionCleanup: false });
      expect(planShutdown(from, others).call).toBeNull();
      expect(planShutdown(from, mine).record).toBe(from);
    }
  });
});
