import { describe, expect, it } from "vitest";
import { present, type Observation } from "./observation.js";
import { phases } from "./phase.js";
import { reconcileRecord } from "./reconcile-record.js";
import type { SandboxRecord } from "./record.js";

const NOW = 1_800_000_000_000;
const LATER = NOW + 60_000;
const ended: Observation = {
  ...present(NOW),
  ...{ running: false, ready: false, completed: true, exitCode: 0, finishedAt: NOW - 5 },
};
const ready: Observation = { ...present(NOW), running: true, ready: true, readiness: "signal" };
const failing: Observation = {
  ...present(NOW),
  ...{ running: false, ready: false, failureReason: "ImagePullFailed", failureClass: "transient" },
};

const record = (more: Partial<SandboxRecord> = {}): SandboxRecord => ({
  ...{ phase: "Ready", desired: "running", since: NOW - 10_000, instanceId: "i-1" },
  ...more,
});
const reconciled = (of: SandboxRecord, observation: Observation, now = NOW): SandboxRecord =>
  reconcileRecord(of, observation, null, now).record;

describe("an end that is seen", () => {
  it("is recorded with its code and its time, and the same look again changes nothing", () => {
    const once = reconciled(record(), ended);
    expect(once).toMatchObject({
      phase: "Completed",
      exitCode: 0,
      finishedAt: NOW - 5,
      since: NOW,
      updatedAt: NOW,
    });
    const again = reconcileRecord(once, ended, null, LATER);
    expect([again.record === once, again.changed]).toEqual([true, false]);
  });

  it.each([
    ["another code", { exitCode: 5 }],
    ["another time", { finishedAt: NOW - 1 }],
  ])("is not recorded twice: %s", (_, seen) => {
    const once = reconciled(record(), ended);
    expect(reconciled(once, { ...ended, ...seen }, LATER)).toBe(once);
  });

  it("is the end of a stop, with its code", () => {
    const stopping = record({ phase: "Stopping", desired: "stopped" });
    expect(reconciled(stopping, { ...ended, exitCode: 143 })).toMatchObject({
      ...{ phase: "Stopped", exitCode: 143, finishedAt: NOW - 5 },
    });
  });

  it.each([
    ["without a code", { exitCode: null }, { exitCode: null, finishedAt: NOW - 5 }],
    ["without a time", { exitCode: 143, finishedAt: null }, { exitCode: 143, finishedAt: null }],
  ])("of a stop is recorded %s as far as it is known", (_, seen, known) => {
    const stopping = record({ phase: "Stopping", desired: "stopped" });
    expect(reconciled(stopping, { ...ended, ...seen })).toMatchObject({ phase: "Stopped", ...known });
  });

  it("keeps what was reported of it before", () => {
    const stopping = record({ phase: "Stopping", desired: "stopped", exitCode: 7, finishedAt: NOW - 99 });
    expect(reconciled(stopping, ended)).toMatchObject({
      phase: "Stopped",
      exitCode: 7,
      finishedAt: NOW - 99,
    });
  });

  it("is not recorded again and again from a look that leaves out what it does not know", () => {
    const unsaid = { ...ended, exitCode: undefined, finishedAt: undefined } as unknown as Observation;
    for (const phase of phases)
      for (const desired of ["running", "stopped", "deleted"] as const) {
        const once = reconciled(record({ phase, desired }), unsaid);
        expect(reconciled(once, unsaid, LATER), `${phase}, ${desired}`).toBe(once);
        expect([once.exitCode ?? null, once.finishedAt ?? null]).toEqual([null, null]);
      }
  });

  it.each([
    ["of another run", { ...ended, stale: true }],
    ["behind a workload that is ready", { ...ready, completed: true, exitCode: 0, finishedAt: NOW - 5 }],
  ])("%s leaves no trace", (_, seen) => {
    const { exitCode = null, finishedAt = null, phase } = reconciled(record(), seen);
    expect({ exitCode, finishedAt, phase }).toEqual({ exitCode: null, finishedAt: null, phase: "Ready" });
  });
});

describe("a record that says what was decided", () => {
  const waiting = reconciled(record({ phase: "Starting" }), failing);
  const [condition] = waiting.conditions ?? [];

  it("is left as it is, by reference", () => {
    expect(waiting).toMatchObject({ phase: "Starting", reason: "ImagePullFailed" });
    expect(reconciled(waiting, failing, LATER)).toBe(waiting);
  });

  it.each([
    ["has no conditions", { conditions: undefined }],
    ["has another reason", { reason: "Starting" }],
    ["has a condition of another status", { conditions: [{ ...condition!, status: "True" }] }],
    ["has a condition of another reason", { conditions: [{ ...condition!, reason: "Starting" }] }],
    ["has a condition of another message", { conditions: [{ ...condition!, message: "hm" }] }],
    ["has no condition of the type", { conditions: [{ ...condition!, type: "Other" }] }],
  ] as readonly [string, Partial<SandboxRecord>][])("no longer does so where it %s", (_, more) => {
    const { record: next, changed } = reconcileRecord({ ...waiting, ...more }, failing, null, LATER);
    expect(changed).toBe(true);
    expect(next).toMatchObject({ reason: waiting.reason, since: waiting.since, updatedAt: LATER });
    expect(next.conditions).toContainEqual(
      expect.objectContaining({ reason: condition!.reason, status: "False" }),
    );
  });

  it("keeps a finer cause that somebody else found", () => {
    const cause = { reason: "RegistryAway", message: "no route" };
    const found = { ...waiting, conditions: [{ ...condition!, cause }] };
    expect(reconciled(found, failing, LATER)).toBe(found);
  });
});

describe("readiness", () => {
  it.each([
    ["the session's", { expectedInstanceId: "i-2" }, { connected: true, instanceId: "i-2" }, "i-2"],
    ["the one that is expected", { expectedInstanceId: "i-3" }, null, "i-3"],
    ["the one that is known", {}, null, "i-1"],
    ["none that is known", { instanceId: null }, null, null],
  ])("is of a run, %s, and that has no end", (_, more, session, instanceId) => {
    const starting = record({ phase: "Starting", exitCode: 3, finishedAt: NOW - 9000, ...more });
    expect(reconcileRecord(starting, ready, session, NOW).record).toMatchObject({
      ...{ phase: "Ready", instanceId, expectedInstanceId: null, exitCode: null, finishedAt: null },
    });
  });
});

it.each([
  ["no input of an object", null, "record must be an object"],
  ["a phase that is no text", { phase: 7, desired: "running", since: 0 }, "record.phase must be a text"],
])("is refused: %s", (_, of, message) => {
  expect(() => reconcileRecord(of as never, null, null, NOW)).toThrow(message);
});

it.each([
  ["observation", ["running", null, NOW]],
  ["observation", [Promise.resolve(null), null, NOW]],
  ["session", [null, "up", NOW]],
  ["now", [null, null, Number.NaN]],
  ["now", [null, null, "12"]],
])("names the argument that is none: %s", (name, rest) => {
  const [observation, session, now] = rest as unknown as readonly [never, never, never];
  expect(() => reconcileRecord(record(), observation, session, now)).toThrow(`phase input: ${name} must be`);
});

it("takes no promise of an observation for one that says nothing", () => {
  const look = Promise.resolve(null) as never;
  expect(() => reconcileRecord(record(), look, null, NOW)).toThrow(
    "observation must be what was seen, and no promise of it, got",
  );
});
