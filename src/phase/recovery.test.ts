import { describe, expect, it } from "vitest";
import { mine, now, others, record, seen } from "../../test/phase/sweeps.js";
import { applyExitReport } from "./apply-exit-report.js";
import { applySession } from "./apply-session.js";
import { absent, type Observation } from "./observation.js";
import { observeDockerInspect } from "./observe/index.js";
import { phases, type Phase } from "./phase.js";
import { reconcileRecord } from "./reconcile-record.js";
import { expectedRun, type DesiredState, type SandboxRecord } from "./record.js";
import { applyRecovery, planRecovery } from "./recovery.js";
import { planShutdown } from "./shutdown.js";

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

  describe("after a managed shutdown", () => {
    const at = 1_800_000_002_500;
    const marked = record("Ready", { shutdownStopAt: at });
    const end = { running: false, ready: false, completed: true } as const;
    const killed = { exitCode: 143, failureReason: "Killed", failureClass: "terminal" } as const;

    it.each<[string, Partial<Observation>]>([
      ["exit 0 after it", { exitCode: 0, finishedAt: at + 1 }],
      ["a kill after it", { ...killed, finishedAt: at }],
      ["exit 0 without a time", { exitCode: 0 }],
      ["a kill without a time", killed],
      [
        "an end in the same second, by a backend that counts in seconds",
        { exitCode: 0, finishedAt: at - 500 },
      ],
    ])("starts again what it stopped: %s", (_what, look) => {
      for (const phase of ["Provisioning", "Starting", "Ready", "Unknown"] as const) {
        const from = { ...marked, phase, startRequestedAt: at - 60_000 };
        const plan = planRecovery(from, { ...mine, observation: seen({ ...end, ...look }) });
        expect(plan).toMatchObject({ call: "start", sessionCleanup: false, record: { phase } });
        // What it found is the end of the run before, also where the start has to wait.
        const finishedAt = look.finishedAt ?? null;
        expect(plan.changed).toBe(finishedAt !== null);
        expect(plan.record.previousFinishedAt ?? null).toBe(finishedAt);
        const started = applyRecovery(plan.record, "start", "ok", mine).record;
        expect(started).toMatchObject({ phase, startRequestedAt: now, shutdownStopAt: null });
      }
    });

    it("starts what a driver removed as it stopped it, and calls it missing where the driver keeps it", () => {
      const gone = { ...mine, observation: absent(null) };
      expect(planRecovery(marked, { ...gone, policy: { removesComputeOnStop: true } })).toMatchObject({
        call: "start",
        changed: false,
      });
      expect(planRecovery(marked, gone)).toMatchObject({ call: null, record: { phase: "Error" } });
      expect(
        planRecovery(record("Ready"), { ...gone, policy: { removesComputeOnStop: true } }).call,
      ).toBeNull();
    });

    it("starts what is at rest whatever is said of it, and judges what may still execute by what is seen", () => {
      const lost = {
        failureReason: "ComputeResourceMissing",
        failureClass: "terminal",
        workload: "absent",
      } as const;
      const plan = (more: Partial<Observation>): ReturnType<typeof planRecovery> =>
        planRecovery(marked, { ...mine, observation: seen({ ...lost, ...more }) });
      expect(plan({ running: false })).toMatchObject({ call: "start", record: { phase: "Ready" } });
      expect(plan({ running: true })).toMatchObject({ call: null, record: { phase: "Error" } });
      const unmarked = planRecovery(record("Ready"), {
        ...mine,
        observation: seen({ ...lost, running: false }),
      });
      expect(unmarked).toMatchObject({ call: null, record: { phase: "Error" } });
    });

    it.each<[string, Partial<Observation>, Phase]>([
      ["success", { exitCode: 0, finishedAt: at - 501 }, "Completed"],
      ["a failure", { exitCode: 1, finishedAt: at - 501 }, "Error"],
    ])("replays nothing that had ended before it: %s", (_what, look, phase) => {
      const plan = planRecovery(marked, { ...mine, observation: seen({ ...end, ...look }) });
      expect(plan).toMatchObject({ call: null, changed: true, record: { phase } });
    });

    it("is over for a gateway that starts nothing, or that finds it running", () => {
      const left = planRecovery(marked, others);
      expect(left).toMatchObject({
        call: null,
        changed: true,
        record: { phase: "Ready", shutdownStopAt: null, updatedAt: now },
      });
      const runs = seen({ running: true, ready: true });
      const again = planRecovery(marked, { ...mine, observation: runs });
      expect(again.call).toBe("start");
      expect(applyRecovery(again.record, "start", "ok", mine).record.shutdownStopAt).toBeNull();
      for (const result of ["not-found", "error"] as const)
        expect(applyRecovery(marked, "start", result, mine).record).toMatchObject({
          phase: "Error",
          shutdownStopAt: null,
        });
    });

    it("keeps its end away from a start that is retained for its retry, and nothing of what the retry brings about", () => {
      const later = { ...mine, now: at + 10_000 };
      const starting = { ...marked, phase: "Starting", startRequestedAt: at - 60_000 } as const;
      const cases = [
        ["error", later],
        ["error", { ...later, managesLifecycle: false }],
        ["not-found", { ...later, managesLifecycle: false }],
      ] as const;
      for (const [result, options] of cases) {
        const kept = applyRecovery(starting, "start", result, options);
        expect(kept).toEqual({
          record: { ...starting, shutdownStopAt: null, startRequestedAt: later.now, updatedAt: later.now },
          changed: true,
          refused: null,
        });
        expect(applyRecovery(kept.record, "start", result, options).record).toBe(kept.record);
        const inspect = {
          State: { Status: "exited", ExitCode: 143, FinishedAt: new Date(at + 100).toISOString() },
        };
        const old = observeDockerInspect({ inspect }, { run: expectedRun(kept.record) });
        expect(reconcileRecord(kept.record, old, null, later.now + 1).record).toBe(kept.record);
        expect(planRecovery(kept.record, { ...mine, observation: seen({ ...end, ...killed }) }).call).toBe(
          "start",
        );
        // The call has taken effect after all: what it started ends by itself.
        const runs = applySession(kept.record, { connected: true, instanceId: "i-2" }, later.now + 2).record;
        const report = { instanceId: "i-2", exitCode: 0, finishedAt: later.now + 3 };
        expect(applyExitReport(runs, report, later.now + 3).record.phase).toBe("Completed");
      }
    });

    it("is over for a result that only the look shows: the supervisor's code is still taken", () => {
      const exited = seen({ ...end, finishedAt: at - 2_000, failureReason: "ProcessExited" });
      const plan = planRecovery({ ...marked, instanceId: "i-1" }, { ...mine, observation: exited });
      expect(plan).toMatchObject({ call: null, record: { phase: "Error", shutdownStopAt: null } });
      expect(planRecovery(plan.record, { ...mine, observation: exited }).changed).toBe(false);
      const report = { instanceId: "i-1", exitCode: 0 };
      expect(applyExitReport(plan.record, report, now).record.phase).toBe("Completed");
    });

    it.each<[string, Partial<Observation>, Phase]>([
      ["a kill", { ...end, ...killed, finishedAt: at + 100 }, "Error"],
      ["a kill without a time or a code", { ...end, failureReason: "Killed" }, "Error"],
      ["a success", { ...end, exitCode: 0, finishedAt: at + 100 }, "Completed"],
      ["a stop under way", { running: true, terminating: true }, "Stopping"],
      ["a backend at rest", { running: false, ready: false, suspended: true }, "Stopped"],
      [
        "a backend with nothing",
        { running: false, ready: false, suspended: true, workload: "absent" },
        "Stopped",
      ],
    ])(
      "takes back what a look recorded between the mark and the end of the gateway: %s",
      (_what, look, phase) => {
        const looked = reconcileRecord(marked, seen(look), null, at + 200).record;
        expect(looked).toMatchObject({ phase, shutdownStopAt: at });
        for (const observation of [null, seen({ ...end, ...killed, finishedAt: at + 100 })]) {
          const plan = planRecovery(looked, { ...mine, observation });
          expect(plan).toMatchObject({ call: "start", sessionCleanup: false });
          expect(applyRecovery(plan.record, "start", "ok", { ...mine, now: at + 300 }).record).toMatchObject({
            phase: "Provisioning",
            desired: "running",
            exitCode: null,
            finishedAt: null,
            startRequestedAt: at + 300,
            shutdownStopAt: null,
          });
          for (const result of ["error", "not-found"] as const)
            expect(applyRecovery(plan.record, "start", result, mine).record).toMatchObject({
              phase: "Error",
              shutdownStopAt: null,
            });
        }
        // A gateway that starts nothing leaves a result, and finishes a stop.
        const left = planRecovery(looked, others);
        expect(left.call).toBe(phase === "Stopping" ? "stop" : null);
        const stopped = applyRecovery(left.record, "stop", "ok", others).record;
        expect(stopped).toMatchObject({ phase: "Stopped", shutdownStopAt: null });
        if (left.call === null) expect(left.record).toMatchObject({ phase, shutdownStopAt: null });
      },
    );

    it("takes back a loss that a look recorded, where the driver removes what it stops", () => {
      const removes = { ...mine, policy: { removesComputeOnStop: true } };
      for (const phase of ["Ready", "Starting"] as const) {
        const gone = reconcileRecord(
          { ...marked, phase },
          absent(null),
          null,
          at + 200,
          removes.policy,
        ).record;
        expect(gone).toMatchObject({ phase: "Error", reason: "ComputeResourceMissing", shutdownStopAt: at });
        for (const observation of [null, absent(null)]) {
          const plan = planRecovery(gone, { ...removes, observation });
          expect(plan.call).toBe("start");
          expect(applyRecovery(plan.record, "start", "ok", removes).record).toMatchObject({
            phase: "Provisioning",
            shutdownStopAt: null,
          });
        }
        expect(planRecovery(gone, mine).call).toBeNull();
        expect(planRecovery({ ...gone, shutdownStopAt: null }, removes).call).toBeNull();
      }
    });

    it("keeps the mark until the start has taken place, so that no look takes that end for a result", () => {
      const runs = seen({ running: true, ready: true });
      for (const observation of [null, runs]) {
        const plan = planRecovery(marked, { ...mine, observation });
        expect(plan).toEqual({ call: "start", record: marked, changed: false, sessionCleanup: false });
        expect(plan.record).toBe(marked);
      }
    });

    it("is a result for a gateway that starts nothing", () => {
      const look = seen({ ...end, exitCode: 0, finishedAt: at + 1 });
      const plan = planRecovery(marked, { ...others, observation: look });
      expect(plan).toMatchObject({ call: null, record: { phase: "Completed", shutdownStopAt: null } });
    });

    it("does not outweigh a stop that was asked for since", () => {
      const stopping = { ...marked, phase: "Stopping", desired: "stopped" } as const;
      for (const observation of [null, seen({ ...end, ...killed, finishedAt: at + 1 })]) {
        const plan = planRecovery(stopping, { ...mine, observation });
        expect(plan).toEqual({ call: "stop", record: stopping, changed: false, sessionCleanup: false });
      }
    });

    it.each([
      ["earlier than the one that is known", at + 5, at + 1, at + 5],
      ["the one that is known", at + 5, at + 5, at + 5],
      ["later than the one that is known", at - 60_000, at + 5, at + 5],
    ])("leaves the latest end before the start: %s", (_what, previousFinishedAt, finishedAt, latest) => {
      const from = { ...marked, previousFinishedAt };
      const plan = planRecovery(from, { ...mine, observation: seen({ ...end, ...killed, finishedAt }) });
      expect(plan).toMatchObject({ call: "start", changed: previousFinishedAt !== latest });
      expect(plan.record.previousFinishedAt).toBe(latest);
      if (!plan.changed) expect(plan.record).toBe(from);
    });

    it("is no end of a run by itself: what was lost, fought over or timed out meanwhile stays so", () => {
      for (const reason of ["OwnershipConflict", "ComputeResourceMissing", "ProvisioningTimedOut", null])
        expect(planRecovery({ ...marked, phase: "Error", reason }, mine).call).toBeNull();
      for (const ended of [{ reason: "Killed" }, { reason: null, exitCode: 143 }])
        expect(planRecovery({ ...marked, phase: "Error", ...ended }, mine).call).toBe("start");
      const removes = { ...mine, policy: { removesComputeOnStop: true } };
      for (const reason of ["OwnershipConflict", "ProvisioningTimedOut", null])
        expect(planRecovery({ ...marked, phase: "Error", reason }, removes).call).toBeNull();
      // A word that was written for another phase says nothing of this one.
      for (const phase of ["Deleting", "Deleted"] as const)
        for (const reason of [null, "BackendEmpty", "ComputeResourceMissing"])
          expect(planRecovery({ ...marked, phase, reason }, removes).call).toBeNull();
    });

    it("takes back nothing else that was recorded in between", () => {
      const expired = seen({ running: false, failureReason: "Expired", failureClass: "terminal" });
      const over = reconcileRecord(marked, expired, null, at + 200).record;
      expect(planRecovery(over, mine)).toMatchObject({ call: null, record: { phase: "Stopped" } });
      const before = reconcileRecord(
        marked,
        seen({ ...end, exitCode: 0, finishedAt: at - 2_000 }),
        null,
        at + 200,
      ).record;
      expect(planRecovery(before, mine)).toMatchObject({ call: null, record: { phase: "Completed" } });
      const gone = reconcileRecord(marked, absent(null), null, at + 200).record;
      expect(planRecovery(gone, mine)).toMatchObject({ call: null, record: { phase: "Error" } });
      for (const desired of ["stopped", "deleted"] as const)
        expect(planRecovery({ ...marked, phase: "Completed", desired }, mine).call).toBeNull();
    });

    it("is of the first shutdown that asked: what that has stopped ended before a second one", () => {
      const first = planShutdown(record("Ready"), { ...mine, now: at }).record;
      const second = planShutdown(first, { ...mine, now: at + 5_000 });
      expect(second).toEqual({ call: "stop", record: first, changed: false, sessionCleanup: false });
      const look = seen({ ...end, ...killed, finishedAt: at + 2_000 });
      expect(planRecovery(second.record, { ...mine, observation: look }).call).toBe("start");
    });
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

  it("is the same start again for one that was under way: what that one has brought about is its own", () => {
    const starting = record("Starting", {
      startRequestedAt: 3,
      previousFinishedAt: 2,
      expectedInstanceId: "i-2",
    });
    const again = {
      phase: "Starting",
      startRequestedAt: 3,
      previousFinishedAt: 2,
      expectedInstanceId: "i-2",
    };
    for (const options of [mine, others])
      expect(applyRecovery(starting, "start", "ok", options).record).toMatchObject({
        ...again,
        updatedAt: now,
      });
    expect(applyRecovery(record("Starting"), "start", "ok", mine).record.startRequestedAt).toBe(now);
    // Unless the gateway had stopped it: then it is a new one.
    const stopped = { ...starting, shutdownStopAt: 5 };
    expect(applyRecovery(stopped, "start", "ok", mine).record.startRequestedAt).toBe(now);
  });

  it("that fails takes the mark of a shutdown from an error, and leaves one without it alone", () => {
    const failed = record("Error", { reason: "Killed", finishedAt: 4, shutdownStopAt: 3 });
    for (const result of ["error", "not-found"] as const) {
      const left = applyRecovery(failed, "start", result, mine);
      expect(left).toEqual({
        record: { ...failed, shutdownStopAt: null, updatedAt: now },
        changed: true,
        refused: null,
      });
      expect(applyRecovery(left.record, "start", result, mine)).toEqual({
        record: left.record,
        changed: false,
        refused: null,
      });
    }
  });

  it("of a run that is no start under way is a new start, whatever was asked for before", () => {
    const ready = record("Ready", { startRequestedAt: 3 });
    expect(applyRecovery(ready, "start", "ok", mine).record.startRequestedAt).toBe(now);
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
