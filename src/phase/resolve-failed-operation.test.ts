import { describe, expect, it } from "vitest";
import type { Operation } from "./gates/index.js";
import { absent, present, type Observation } from "./observation.js";
import { phases } from "./phase.js";
import type { SandboxRecord } from "./record.js";
import { resolveFailedOperation } from "./resolve-failed-operation.js";

const now = 9;
const record = (phase: SandboxRecord["phase"], more: Partial<SandboxRecord> = {}): SandboxRecord => ({
  phase,
  desired: "running",
  since: 5,
  updatedAt: 5,
  ...more,
});
const seen = (more: Partial<Observation>): Observation => ({ ...present(null), ...more });
const stopped = record("Stopped", { desired: "stopped", reason: "Suspended", message: "at rest", since: 1 });
const ended = { running: false, completed: true, exitCode: 1 } as const;

/** What became of the record, or `undefined` where it is the very same. */
function resolved(
  from: SandboxRecord,
  previous: SandboxRecord,
  operation: Operation,
  observation: Observation | null,
): SandboxRecord | undefined {
  const result = resolveFailedOperation(from, previous, operation, observation, now);
  expect(result.refused).toBeNull();
  expect(result.changed).toBe(result.record !== from);
  return result.changed ? result.record : undefined;
}

describe("a start that failed", () => {
  it.each(["Starting", "Provisioning"] as const)(
    "in %s gives back what was, where nothing took place",
    (phase) => {
      const deadline = { deadlineAt: 70 } as NonNullable<SandboxRecord["deadline"]>;
      const before = { ...stopped, deadline: { deadlineAt: 3 } as NonNullable<SandboxRecord["deadline"]> };
      for (const look of [seen(ended), seen({ running: false, suspended: true })]) {
        expect(resolved(record(phase, { deadline }), before, "start", look)).toMatchObject({
          phase: "Stopped",
          desired: "stopped",
          reason: "Suspended",
          message: "at rest",
          since: now,
          updatedAt: now,
          deadline,
        });
        expect(resolved(record(phase), before, "start", look)?.deadline).toEqual(before.deadline);
        expect(resolved(record(phase), stopped, "start", look)?.deadline).toBeNull();
      }
    },
  );

  it("gives back a record that had no words with its phase as the reason", () => {
    const silent = record("Stopped", { desired: "stopped" });
    expect(resolved(record("Starting"), silent, "start", seen(ended))).toMatchObject({
      phase: "Stopped",
      reason: "Stopped",
      message: "",
    });
  });

  it("stays where nothing was learnt, and where something newer decides", () => {
    for (const look of [null, { ...absent(null), exists: null }])
      expect(resolved(record("Starting"), stopped, "start", look)).toBeUndefined();
    for (const phase of phases.filter((each) => each !== "Starting" && each !== "Provisioning"))
      expect(resolved(record(phase), stopped, "start", seen(ended))).toBeUndefined();
  });

  const T = 1_800_000_002_000;
  it.each<[string, Partial<SandboxRecord>, Partial<Observation>, string]>([
    // One instance id for every run says nothing: the time decides.
    ["an equal id and the end of before", { expectedInstanceId: "i-1" }, { finishedAt: T - 500 }, "Stopped"],
    ["an equal id and an older end", { expectedInstanceId: "i-1" }, { finishedAt: T - 501 }, "Stopped"],
    ["an equal id and no time", { expectedInstanceId: "i-1" }, {}, "Stopped"],
    [
      "an equal id and an end after the start",
      { expectedInstanceId: "i-1" },
      { finishedAt: T + 600 },
      "Error",
    ],
    // An id of its own says it, also where the backend's clock is behind or it counts in seconds.
    ["an id of its own", { expectedInstanceId: "i-2" }, { instanceId: "i-2" }, "Error"],
    [
      "an id of its own, by a slow clock",
      { expectedInstanceId: "i-2" },
      { instanceId: "i-2", finishedAt: T + 1 },
      "Error",
    ],
    [
      "an id of its own, in the second of before",
      { expectedInstanceId: "i-2" },
      { instanceId: "i-2", finishedAt: T - 1000 },
      "Error",
    ],
    [
      "an id of its own on an end that was recorded before",
      { expectedInstanceId: "i-2" },
      { instanceId: "i-2", finishedAt: T - 501 },
      "Stopped",
    ],
    ["a second that begins before the start", {}, { finishedAt: T }, "Stopped"],
    [
      "the very end of before, by a clock that is ahead of the start",
      { startRequestedAt: T - 900 },
      { finishedAt: T - 500 },
      "Stopped",
    ],
    ["an end after the start", {}, { finishedAt: T + 600 }, "Error"],
  ])("knows whose end it sees: %s", (_what, more, look, phase) => {
    const starting = record("Starting", {
      instanceId: "i-1",
      startRequestedAt: T + 100,
      previousFinishedAt: T - 500,
      ...more,
    });
    const after = resolved(starting, stopped, "start", seen({ ...ended, instanceId: "i-1", ...look }));
    expect(after?.phase).toBe(phase);
  });

  it("gives nothing back over what is gone, is going, or still runs", () => {
    // A look that says that it is gone is believed, whatever else it says.
    for (const gone of [absent(null), { ...absent(null), suspended: true }])
      expect(resolved(record("Starting"), stopped, "start", gone)?.phase).toBe("Error");
    expect(
      resolved(record("Starting"), stopped, "start", seen({ ...ended, deleting: true }))?.phase,
    ).not.toBe("Stopped");
    expect(
      resolved(record("Starting"), stopped, "start", seen({ running: true, suspended: true }))?.phase,
    ).not.toBe("Stopped");
    expect(resolved(record("Starting"), stopped, "start", seen({ running: false }))?.phase).not.toBe(
      "Stopped",
    );
  });
});

describe("a stop that failed", () => {
  const ready = record("Ready", { reason: "SupervisorReady", message: "up", since: 1 });
  const stopping = record("Stopping", { desired: "stopped" });

  it("gives back what runs on untouched", () => {
    const look = seen({ running: true, terminating: false });
    expect(resolved(stopping, ready, "stop", look)).toMatchObject({
      phase: "Ready",
      desired: "running",
      reason: "SupervisorReady",
      message: "up",
      since: now,
    });
  });

  it.each([
    ["it ends already", seen({ running: true, terminating: true })],
    ["nobody knows whether it ends", seen({ running: true, terminating: null })],
    ["the evidence is another run's", seen({ running: true, terminating: false, stale: true })],
    ["it is being removed", seen({ running: true, terminating: false, deleting: true })],
    ["nobody knows whether it runs", seen({ running: null, terminating: false })],
    ["it is gone", { ...absent(null), running: true }],
  ])("does not where %s", (_what, look) => {
    expect(resolved(stopping, ready, "stop", look)?.phase).not.toBe("Ready");
  });

  it("stays where nothing was learnt, and where something newer decides", () => {
    expect(resolved(stopping, ready, "stop", null)).toBeUndefined();
    const look = seen({ running: true, terminating: false });
    for (const phase of phases.filter((each) => each !== "Stopping"))
      expect(resolved(record(phase), ready, "stop", look)).toBeUndefined();
  });
});

describe("a delete that failed", () => {
  const deleting = record("Deleting", { desired: "deleted" });

  it("gives back what was where nothing was learnt, and leaves what is newer alone", () => {
    expect(resolved(deleting, stopped, "delete", null)).toMatchObject({
      phase: "Stopped",
      desired: "stopped",
    });
    for (const phase of phases.filter((each) => each !== "Deleting"))
      expect(resolved(record(phase), stopped, "delete", null)).toBeUndefined();
  });

  it("goes on over what is being removed, and is done over what is gone", () => {
    const goes = resolveFailedOperation(deleting, stopped, "delete", seen({ deleting: true }), now).record;
    expect(goes).toMatchObject({ phase: "Deleting", desired: "deleted" });
    expect(resolved(deleting, stopped, "delete", absent(null))?.phase).toBe("Deleted");
  });

  it("gives back Ready only over a backend that is ready by its own word or has none to say", () => {
    const ready = record("Ready");
    const after = (more: Partial<Observation>): string | undefined =>
      resolved(deleting, ready, "delete", seen({ running: true, ...more }))?.phase;
    expect(after({ ready: true, readiness: "signal" })).toBe("Ready");
    expect(after({ ready: null, readiness: "none" })).toBe("Ready");
    expect(after({ ready: false, readiness: "signal" })).not.toBe("Ready");
    expect(after({ ready: true, running: false })).not.toBe("Ready");
  });

  it("takes what was Ready and is ready for connected, also where Ready needs a session", () => {
    const policy = { requireSession: true };
    const after = (previous: SandboxRecord, more: Partial<Observation>): string => {
      const look = seen({ running: true, ...more });
      return resolveFailedOperation(deleting, previous, "delete", look, now, policy).record.phase;
    };
    for (const look of [
      { ready: true, readiness: "signal" },
      { ready: null, readiness: "none" },
    ] as const) {
      expect(after(record("Ready"), look)).toBe("Ready");
      expect(after(record("Provisioning"), look)).toBe("Provisioning");
    }
    expect(after(record("Ready"), { ready: false, readiness: "signal" })).toBe("Provisioning");
  });
});
