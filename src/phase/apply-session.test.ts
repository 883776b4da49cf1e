import { describe, expect, it } from "vitest";
import { applySession } from "./apply-session.js";
import type { SandboxRecord } from "./record.js";

const NOW = 1_800_000_000_000;
const record = (more: Partial<SandboxRecord> = {}): SandboxRecord => ({
  phase: "Provisioning",
  desired: "running",
  since: NOW - 10_000,
  ...more,
});
const up = { connected: true, instanceId: "i-1" } as const;
const down = { connected: false, instanceId: "i-1" } as const;

describe("a supervisor that connects", () => {
  it("makes its sandbox ready, with a fresh run", () => {
    const before = record({ phase: "Unknown", expectedInstanceId: "i-1", exitCode: 3, finishedAt: 5 });
    expect(applySession(before, up, NOW)).toMatchObject({
      changed: true,
      refused: null,
      record: {
        ...{ phase: "Ready", reason: "DependenciesReady", since: NOW, updatedAt: NOW },
        message: "The supervisor of this run is connected.",
        ...{ instanceId: "i-1", expectedInstanceId: null, exitCode: null, finishedAt: null },
      },
    });
  });

  it.each([
    ["which says no instance", { connected: true }, "i-0"],
    ["which says none of any", { connected: true, instanceId: null }, "i-0"],
  ])("%s is of the run that is known", (_, session, instanceId) => {
    const known = record({ phase: "Starting", instanceId: "i-0" });
    expect(applySession(known, session, NOW).record).toMatchObject({ phase: "Ready", instanceId });
  });

  it("counts from the record's own moment where no other is given", () => {
    expect(applySession(record(), up).record.since).toBe(NOW - 10_000);
  });

  it.each([
    ["Stopping", { phase: "Stopping" }, "phase"],
    ["Stopped", { phase: "Stopped" }, "phase"],
    ["Completed", { phase: "Completed" }, "phase"],
    ["Error", { phase: "Error" }, "phase"],
    ["Deleting", { phase: "Deleting" }, "phase"],
    ["not to run", { desired: "stopped" }, "not-desired"],
    ["expecting another run", { expectedInstanceId: "i-2" }, "other-run"],
    ["Starting after this very run", { phase: "Starting", instanceId: "i-1", exitCode: 0 }, "other-run"],
    ["over its deadline", { deadline: { deadlineAt: NOW } }, "expired"],
    ["not admitted yet", { admission: "pending" }, "not-admitted"],
    ["refused admission", { admission: "rejected" }, "not-admitted"],
  ] as readonly [string, Partial<SandboxRecord>, string][])(
    "changes nothing of one that is %s",
    (_, more, refused) => {
      const before = record(more);
      const { record: after, changed, refused: why } = applySession(before, up, NOW);
      expect([after === before, changed, why]).toEqual([true, false, refused]);
    },
  );

  it("is taken a millisecond before the deadline, and also after it where the sandbox was ready", () => {
    expect(applySession(record({ deadline: { deadlineAt: NOW + 1 } }), up, NOW).record.phase).toBe("Ready");
    const ready = record({ phase: "Ready", instanceId: "i-0", deadline: { deadlineAt: NOW } });
    expect(applySession(ready, up, NOW).record).toMatchObject({ phase: "Ready", instanceId: "i-1" });
  });

  it("is the first contact of a sandbox that no run was fixed for, whatever run was before", () => {
    expect(applySession(record({ instanceId: "i-0" }), up, NOW).record).toMatchObject({
      phase: "Ready",
      instanceId: "i-1",
    });
  });

  it("again changes nothing, and another one supersedes it", () => {
    const ready = record({ phase: "Ready", instanceId: "i-1" });
    expect(applySession(ready, up, NOW)).toEqual({ record: ready, changed: false, refused: null });
    const other = applySession(ready, { connected: true, instanceId: "i-2" }, NOW);
    expect(other).toMatchObject({ changed: true, record: { phase: "Ready", instanceId: "i-2" } });
  });
});

describe("a supervisor that is gone", () => {
  it("takes readiness with it, and keeps the run", () => {
    const after = applySession(record({ phase: "Ready", instanceId: "i-1" }), down, NOW);
    expect(after).toMatchObject({
      changed: true,
      refused: null,
      record: { phase: "Provisioning", reason: "DependenciesNotReady", instanceId: "i-1", since: NOW },
    });
    expect(after.record.message).toBe("The supervisor is not connected.");
  });

  it.each([
    ["says no instance", { connected: false }, "i-1"],
    ["is of a record that knows none", down, null],
  ])("counts where it %s", (_, session, instanceId) => {
    expect(applySession(record({ phase: "Ready", instanceId }), session, NOW).record.phase).toBe(
      "Provisioning",
    );
  });

  it("changes nothing where another one took its place, or nothing was ready", () => {
    const ready = record({ phase: "Ready", instanceId: "i-2" });
    expect(applySession(ready, down, NOW)).toEqual({ record: ready, changed: false, refused: "superseded" });
    const starting = record({ phase: "Starting" });
    expect(applySession(starting, down, NOW)).toEqual({ record: starting, changed: false, refused: "phase" });
  });
});

it("what is no record and no session is named", () => {
  expect(() => applySession(null as never, up)).toThrow("record must be an object");
  expect(() => applySession(record(), undefined as never)).toThrow("session must be an object");
});
