import { describe, expect, it } from "vitest";
import { mine, now, others, record, seen } from "../../test/phase/sweeps.js";
import { phases, type Phase } from "./phase.js";
import { planRecovery } from "./recovery.js";
import { applyShutdown, planShutdown } from "./shutdown.js";

describe("a plan for the end of a gateway", () => {
  it("stops what runs where it manages the lifecycle, says so in the record, and leaves phase and intent", () => {
    const runs: readonly Phase[] = ["Provisioning", "Starting", "Ready", "Unknown"];
    for (const phase of phases) {
      const from = record(phase);
      const plan = planShutdown(from, mine);
      const stops = runs.includes(phase);
      const marked = { ...from, shutdownStopAt: now, updatedAt: now };
      expect(plan).toEqual({
        call: stops ? "stop" : null,
        record: stops ? marked : from,
        changed: stops,
        sessionCleanup: false,
      });
      if (!stops) expect(plan.record).toBe(from);
      const left = planShutdown(from, others);
      expect(left).toEqual({ call: null, record: from, changed: false, sessionCleanup: false });
      expect(left.record).toBe(from);
    }
  });

  it("takes back what it said of a stop that failed: how that run ends is its own", () => {
    const { record: marked } = planShutdown(record("Ready"), mine);
    for (const result of ["ok", "not-found"] as const)
      expect(applyShutdown(marked, result, mine)).toEqual({ record: marked, changed: false, refused: null });
    const failed = applyShutdown(marked, "error", { ...mine, now: now + 1 });
    expect(failed).toMatchObject({
      changed: true,
      record: { phase: "Ready", shutdownStopAt: null, updatedAt: now + 1 },
    });
    expect(applyShutdown(failed.record, "error", mine).changed).toBe(false);
    const observation = seen({ running: false, completed: true, exitCode: 0, finishedAt: now + 5 });
    expect(planRecovery(failed.record, { ...mine, observation }).record.phase).toBe("Completed");
  });
});
