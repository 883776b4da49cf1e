import { describe, expect, it } from "vitest";
import { NOW, record, up } from "../../test/phase/decisions.js";
import type { Observation } from "./observation.js";
import { reconcileRecord } from "./reconcile-record.js";

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
