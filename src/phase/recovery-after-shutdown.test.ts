import { describe, expect, it } from "vitest";
import { mine, now, others, record, seen } from "../../test/phase/sweeps.js";
import { applyExitReport } from "./apply-exit-report.js";
import { applySession } from "./apply-session.js";
import { absent, type Observation } from "./observation.js";
import { observeDockerInspect } from "./observe/index.js";
import type { Phase } from "./phase.js";
import { reconcileRecord } from "./reconcile-record.js";
import { expectedRun } from "./record.js";
import { applyRecovery, planRecovery } from "./recovery.js";
import { planShutdown } from "./shutdown.js";

describe("a plan for the start of a gateway", () => {
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
});
