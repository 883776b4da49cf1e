import { describe, expect, it } from "vitest";
import { decide, empty, NOW, record, up } from "../../test/phase/decisions.js";
import { absent, present, unobserved, type Observation } from "./observation.js";
import { reconcileRecord } from "./reconcile-record.js";

describe("what an observation leaves out", () => {
  const unknown: Observation = {
    ...unobserved(null),
    terminating: null,
    suspended: null,
    completed: null,
    stale: false,
  };
  const ended: Observation = {
    ...present(NOW),
    running: false,
    completed: true,
    exitCode: 0,
    finishedAt: NOW - 1,
  };
  const phases = ["Provisioning", "Starting", "Ready", "Stopping", "Stopped", "Completed", "Error"] as const;

  it.each(Object.keys(unknown) as (keyof Observation)[])("is unknown: %s", (field) => {
    for (const observation of [up, empty, ended, absent(NOW)]) {
      const rest = Object.fromEntries(Object.entries(observation).filter(([name]) => name !== field));
      for (const phase of phases) {
        const from = record(phase, {
          desired: phase.startsWith("Stop") ? "stopped" : "running",
          ...(phase === "Completed" ? { exitCode: 0, finishedAt: NOW - 1 } : {}),
        });
        const expected = reconcileRecord(from, { ...observation, [field]: unknown[field] }, null, NOW);
        for (const partial of [rest, { ...rest, [field]: undefined }]) {
          const { record: next, decision } = reconcileRecord(from, partial as never, null, NOW);
          expect([decision.phase, decision.rule]).toEqual([expected.decision.phase, expected.decision.rule]);
          expect(next).toEqual(expected.record);
        }
      }
    }
  });

  it("may be everything", () => {
    for (const phase of phases)
      expect(decide(record(phase), {} as Observation).phase).toBe(decide(record(phase), unknown).phase);
  });
});
