import { describe, expect, it } from "vitest";
import { planSchedule } from "./schedule.js";

describe("the schedule", () => {
  const options = { durationMs: 120_000, leaseMs: 2000 };

  it("is the same for the same seed, and another one for another", () => {
    const schedule = planSchedule({ ...options, seed: 7 });
    expect(planSchedule({ ...options, seed: 7 })).toEqual(schedule);
    expect(planSchedule({ ...options, seed: 8 })).not.toEqual(schedule);
  });

  it("has every kind of operation and fault, in order, and pauses that outlast a lease", () => {
    const schedule = planSchedule({ ...options, seed: 7 });
    const kinds = new Set(schedule.flatMap(({ operation }) => operation?.kind ?? []));
    const faults = new Set(schedule.flatMap(({ fault }) => fault?.kind ?? []));
    expect([...kinds].sort()).toEqual(["create", "delete", "read", "start", "stop", "update"]);
    expect([...faults].sort()).toEqual(["clock", "cut", "database", "deliveries", "kill", "pause", "slow"]);
    expect(schedule.every(({ atMs }, index) => atMs >= (schedule[index - 1]?.atMs ?? 0))).toBe(true);
    for (const { fault } of schedule) if (fault?.kind === "pause") expect(fault.forMs).toBeGreaterThan(2000);
  });
});
