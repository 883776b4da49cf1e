import { describe, expect, it } from "vitest";
import { live, reading, stored } from "./scenario-deadlines.js";
import { getCondition } from "../../src/conditions/index.js";
import {
  deadlineConditions,
  definePlan,
  PhasedDeadline,
  readDeadline,
  startAttempt,
} from "../../src/deadline/index.js";
import { VirtualClock } from "../../src/testing/index.js";
import { D1, D2, Driven, sec, started, T0 } from "./support.js";

describe("scenarios D: phased deadlines", () => {
  it("D-02 the admission window is full, and its expiry carries the admission's reason", () => {
    const d = new Driven(started(D1));
    d.at(412, { type: "enter", phase: "admission" });
    expect(d.at(711.999, { type: "tick" })).toMatchObject({ applied: true });
    expect(reading(d.state, 711.999).status).toBe("active");
    d.at(712, { type: "tick" });
    expect(d.state.expiry).toMatchObject({
      phase: "admission",
      limitedBy: "budget",
      at: sec(712),
      reason: "ProvisioningTimedOut",
    });
    expect(d.at(712, { type: "claim-cleanup", owner: "g" })).toMatchObject({ applied: true, claim: 1 });
  });

  it("D-05 the same progress a thousand times counts once", () => {
    const clock = new VirtualClock();
    const d = live(clock);
    let changes = 0;
    d.on("change", () => (changes += 1));
    clock.advance(10_000);
    d.progress({ step: "download", position: 104_857_600 });
    const { version } = d.state;
    for (let report = 1; report < 1000; report += 1) {
      clock.advance(400);
      expect(d.progress({ step: "download", position: 104_857_600 })).toEqual({
        applied: false,
        why: "duplicate",
        changed: false,
      });
    }
    clock.advance(500_000 - 409_600);
    expect(d.state.version).toBe(version);
    expect(changes).toBe(1);
    expect(readDeadline(d.state, clock.now())).toMatchObject({ deadlineAt: sec(900), remainingMs: 400_000 });
  });

  it("D-08 a restart does not re-arm the deadline", () => {
    const clock = new VirtualClock();
    const before = live(clock);
    clock.advance(100_000);
    const saved = stored(before.state);
    clock.restart(600_000);
    const d = PhasedDeadline.restore(saved, { clock });
    expect(d.remainingMs()).toBe(200_000);
    const expired: number[] = [];
    d.on("expired", () => expired.push(clock.now()));
    clock.advance(1_000_000);
    expect(expired).toEqual([sec(900)]);
  });

  it("D-10 a renewed window survives a restart", () => {
    const d = new Driven(started(D1));
    d.at(412, { type: "enter", phase: "admission" });
    expect(reading(d.state, 412).deadlineAt).toBe(sec(712));
    expect(d.at(550, { type: "change", generation: 2 })).toMatchObject({ renewed: true });
    const after = new Driven(stored(d.state));
    expect(reading(after.state, 730)).toMatchObject({ status: "active", remainingMs: 120_000 });
    after.at(850, { type: "tick" });
    expect(after.state.expiry?.at).toBe(sec(850));
  });

  it("D-13 renewals end at the attempt's ceiling", () => {
    const d = new Driven(started(D1));
    d.at(890, { type: "enter", phase: "admission" });
    expect(reading(d.state, 890).deadlineAt).toBe(sec(1190));
    d.at(1180, { type: "change", generation: 2 });
    expect(reading(d.state, 1180).deadlineAt).toBe(sec(1480));
    d.at(1400, { type: "change", generation: 3 });
    expect(reading(d.state, 1400)).toMatchObject({ deadlineAt: sec(1500), limitedBy: "attempt-ceiling" });
    d.at(1500, { type: "tick" });
    expect(d.state.expiry).toMatchObject({ at: sec(1500), limitedBy: "attempt-ceiling" });
  });

  it("D-15 expiry sticks", () => {
    const d = new Driven(started(D1));
    d.at(900, { type: "tick" });
    expect(d.at(905, { type: "enter", phase: "admission" })).toMatchObject({
      applied: false,
      why: "settled",
    });
    expect(d.at(910, { type: "complete" })).toMatchObject({ applied: false, why: "settled" });
    expect(d.state).toMatchObject({ status: "expired", expiry: { at: sec(900) } });
  });

  it("D-16 a token of an earlier attempt is fenced, whatever number a user sees", () => {
    const first = new Driven(started(D1, { attempt: "s1" }));
    first.at(900, { type: "tick" });
    first.at(901, { type: "claim-cleanup", owner: "g" });
    first.at(902, { type: "cleanup-done", claim: 1, ok: true });
    const second = new Driven(started(D1, { attempt: "s2", now: sec(950), previous: first.state }));
    expect(second.at(960, { type: "enter", phase: "admission", attempt: "s1" })).toMatchObject({
      why: "stale-attempt",
      changed: false,
    });
    expect(reading(second.state, 960)).toMatchObject({ phase: "prepare", deadlineAt: sec(1850) });
    second.at(970, { type: "enter", phase: "admission" });
    expect(reading(second.state, 970).deadlineAt).toBe(sec(1270));
  });

  it("D-20 an oscillating value is no progress", () => {
    const oscillate = (stallMs?: number): Driven => {
      const d = new Driven(started({ phases: [{ name: "run", budgetMs: 600_000, stallMs }] }));
      for (let at = 30, value = 91; at <= 7200; at += 30, value = value === 91 ? 92 : 91) {
        d.at(at, { type: "progress", phase: "run", position: value });
      }
      return d;
    };
    const stalled = oscillate(300_000);
    expect(stalled.outcomes.filter((outcome) => outcome.applied)).toHaveLength(2);
    expect(stalled.state.expiry).toMatchObject({ at: sec(360), limitedBy: "stall" });
    expect(oscillate().state.expiry).toMatchObject({ at: sec(600), limitedBy: "budget" });
  });

  it("D-21 a trickle does not stall but expires all the same", () => {
    const d = new Driven(started(D2));
    for (let at = 100; at <= 800; at += 100) {
      expect(d.at(at, { type: "progress", phase: "prepare", step: "download", position: at })).toMatchObject({
        applied: true,
      });
    }
    d.at(900, { type: "tick" });
    expect(d.state.expiry).toMatchObject({ at: sec(900), limitedBy: "budget" });
  });

  it("D-23 the next step implies that the one before is done", () => {
    const d = new Driven(started(D2));
    d.at(90, { type: "progress", phase: "prepare", step: "download", position: 50 });
    d.at(190, { type: "progress", phase: "prepare", step: "download", position: 99 });
    d.at(205, { type: "progress", phase: "prepare", step: "extract" });
    expect(reading(d.state, 310)).toMatchObject({ status: "active", bounds: { stall: sec(505) } });
    d.at(210, { type: "progress", phase: "prepare", step: "download", position: 100 });
    expect(reading(d.state, 310).bounds.stall).toBe(sec(510));
  });

  it("D-25 a stall is reported no later than the budget that comes before it", () => {
    const d = new Driven(started(D2));
    for (const at of [100, 200, 300, 400, 500, 600, 700, 800, 850]) {
      d.at(at, { type: "progress", phase: "prepare", step: "download", position: at });
    }
    expect(reading(d.state, 850).bounds.stall).toBe(sec(900));
    d.at(900, { type: "tick" });
    expect(d.state.expiry?.limitedBy).toBe("budget");
  });

  it("D-34 a pause does not outlive the attempt's ceiling", () => {
    const resumed = new Driven(started(D1));
    resumed.at(300, { type: "pause", seq: 1 });
    resumed.at(1400, { type: "resume", seq: 2 });
    expect(reading(resumed.state, 1400)).toMatchObject({
      deadlineAt: sec(1500),
      limitedBy: "attempt-ceiling",
    });
    const forgotten = new Driven(started(D1));
    forgotten.at(300, { type: "pause", seq: 1 });
    expect(reading(forgotten.state, 1499.999)).toMatchObject({ status: "active", paused: true });
    forgotten.at(1500, { type: "tick" });
    expect(forgotten.state.expiry).toMatchObject({ at: sec(1500), limitedBy: "attempt-ceiling" });
  });

  it("D-35 a resume goes on with what was left", () => {
    const d = new Driven(started(D1));
    d.at(300, { type: "pause", seq: 1 });
    expect(reading(d.state, 400).pausedBudgetMs).toBe(600_000);
    d.at(500, { type: "resume", seq: 2 });
    expect(reading(d.state, 500).remainingMs).toBe(600_000);
  });

  it("D-38 a child ends with its parent", () => {
    const parent = started({ phases: [{ name: "all", budgetMs: 10_000 }] });
    const child = new Driven(
      started(
        { phases: [{ name: "b", budgetMs: 10_000 }] },
        { attempt: "b", now: sec(5), parent: readDeadline(parent, sec(5)) },
      ),
    );
    expect(reading(child.state, 5)).toMatchObject({ deadlineAt: sec(10), limitedBy: "parent" });
    child.at(10, { type: "tick" });
    expect(child.state.expiry).toMatchObject({ at: sec(10), limitedBy: "parent" });
  });

  it("D-43 unlimited survives JSON, and no number but a positive safe integer is a budget", () => {
    const unlimited = started({ phases: [{ name: "run" }] }, { now: 0 });
    expect(readDeadline(unlimited, 1e12).remainingMs).toBe(Number.POSITIVE_INFINITY);
    const again = stored(unlimited);
    expect(again).toEqual(unlimited);
    expect(readDeadline(again, 1e12)).toMatchObject({
      status: "active",
      remainingMs: Number.POSITIVE_INFINITY,
    });
    for (const budgetMs of [Number.NaN, -1, "900", null, Number.POSITIVE_INFINITY, 0, 1.5]) {
      expect(() => definePlan({ phases: [{ name: "run", budgetMs: budgetMs as number }] })).toThrow(
        /phases\[0\]\.budgetMs/,
      );
    }
  });

  it("D-49 a cause is added to the preparation's timeout and replaces nothing", () => {
    const d = new Driven(started(D1));
    d.at(900, { type: "tick" });
    const cause = { reason: "IsolationBackendMismatch", message: "restore the gateway selection" };
    const ready = getCondition(deadlineConditions(d.state, sec(900), { cause }), "Ready");
    expect(ready).toMatchObject({ status: "False", reason: "ImagePreparationTimedOut", cause });
  });

  it("D-55 of two workers the fenced one cannot complete", () => {
    const plan = { phases: [{ name: "run", budgetMs: 900_000 }] };
    const first = new Driven(started(plan));
    first.at(50, { type: "cancel", reason: "lease lost" });
    first.at(51, { type: "waive-cleanup", by: "operator", reason: "nothing was staged" });
    const second = new Driven(started(plan, { attempt: "a2", now: sec(60), previous: first.state }));
    expect(second.at(70, { type: "complete", attempt: "a1" })).toMatchObject({ why: "stale-attempt" });
    expect(second.at(80, { type: "complete" })).toMatchObject({ applied: true });
    expect(second.at(81, { type: "complete" })).toMatchObject({ why: "settled" });
  });

  it("starts at the scenario's zero", () => {
    expect(startAttempt(D1, { attempt: "a1", now: T0 }).state?.startedAt).toBe(new VirtualClock().now());
  });
});
