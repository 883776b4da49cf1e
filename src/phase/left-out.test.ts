import { describe, expect, it } from "vitest";
import { seededRandom } from "../testing/index.js";
import { unobserved, type Observation } from "./observation.js";
import { allowedOperations } from "./gates/index.js";
import { derivePhase } from "./derive-phase.js";
import { phases } from "./phase.js";
import { reconcileRecord } from "./reconcile-record.js";
import type { SandboxRecord } from "./record.js";
import { planRecovery } from "./recovery.js";
import { resolveFailedOperation } from "./resolve-failed-operation.js";

const NOW = 1000;
const UNKNOWN: Observation = {
  ...unobserved(null),
  terminating: null,
  suspended: null,
  completed: null,
  stale: false,
};
const instants = [NOW - 5, NOW, NOW + 5, null];
const words = ["Killed", "Evicted", "x", null];
const facts: Readonly<Record<string, readonly unknown[]>> = {
  workload: ["present", "absent", "unknown"],
  readiness: ["signal", "none", "unreadable"],
  exitCode: [0, 1, null],
  endedBy: ["guest", "host", "unknown"],
  finishedAt: instants,
  observedAt: instants,
  instanceId: words,
  failureReason: words,
  failureClass: ["transient", "terminal", null],
  backendReason: words,
  message: words,
  generation: [1, 2, null],
  stale: [true, false],
  behind: [false],
  conditions: [[]],
};

const random = seededRandom(7);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

function anyRecord(): SandboxRecord {
  return {
    phase: pick(phases),
    desired: pick(["running", "stopped", "deleted"]),
    since: NOW - 10,
    instanceId: pick(["x", null]),
    exitCode: pick([0, null]),
    startRequestedAt: pick([NOW - 6, null]),
    finishedAt: pick([NOW - 7, null]),
    shutdownStopAt: pick([NOW - 6, null]),
  };
}

describe("a fact that an observation leaves out", () => {
  it("is the same to everybody as one that is not known", () => {
    const names = Object.keys(UNKNOWN) as (keyof Observation)[];
    for (let round = 0; round < 4000; round += 1) {
      const full = Object.fromEntries(names.map((name) => [name, pick(facts[name] ?? [true, false, null])]));
      const left = [pick(names), pick(names)];
      const without = Object.fromEntries(
        Object.entries(full).filter(([name]) => !left.includes(name as never)),
      );
      const unknown = { ...full, ...Object.fromEntries(left.map((name) => [name, UNKNOWN[name]])) };
      const record = anyRecord();
      const session = pick([
        null,
        { connected: true, instanceId: "x" },
        { connected: false, instanceId: null },
      ]);
      const made = (observation: Observation): unknown => [
        derivePhase({ record, observation, session, now: NOW }),
        reconcileRecord(record, observation, session, NOW),
        allowedOperations({ record, observation, by: "user", now: NOW }),
        planRecovery(record, { managesLifecycle: true, observation, now: NOW }),
        (["start", "stop", "delete"] as const).map((operation) =>
          resolveFailedOperation(record, record, operation, observation, NOW),
        ),
      ];
      const said = JSON.stringify({ left, record, full });
      expect(made(without as unknown as Observation), said).toEqual(made(unknown as unknown as Observation));
    }
  });

  it("makes no second write of an end that was recorded, and no recovery by what is no instant", () => {
    const ended = { ...UNKNOWN, exists: true, running: false, completed: true, exitCode: 0 };
    const { finishedAt, ...left } = ended;
    expect(finishedAt).toBe(null);
    const record: SandboxRecord = { phase: "Ready", desired: "running", since: 0, shutdownStopAt: 5 };
    const first = reconcileRecord({ ...record, shutdownStopAt: null }, left as Observation, null, NOW);
    const again = reconcileRecord(first.record, left as Observation, null, NOW);
    expect([first.record.phase, first.changed, again.changed]).toEqual(["Completed", true, false]);
    const options = { managesLifecycle: true, now: NOW };
    expect(planRecovery(record, { ...options, observation: left as Observation })).toEqual(
      planRecovery(record, { ...options, observation: ended }),
    );
  });
});
