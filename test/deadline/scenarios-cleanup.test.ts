import { describe, expect, it } from "vitest";
import { stored } from "./scenario-deadlines.js";
import {
  applyDeadlineEvent,
  PhasedDeadline,
  type CommitResult,
  type DeadlineState,
} from "../../src/deadline/index.js";
import { VirtualClock } from "../../src/testing/index.js";
import { D1, Driven, sec, started } from "./support.js";

describe("scenarios D: phased deadlines", () => {
  it("D-44 three who see the deadline at once make one claim", () => {
    const clock = new VirtualClock();
    let row: DeadlineState = started(D1);
    const commit = (next: DeadlineState, expected: number): CommitResult => {
      if (row.version !== expected) return { committed: false, current: row };
      row = next;
      return { committed: true };
    };
    const managers = ["g1", "g2"].map(() => PhasedDeadline.restore(row, { clock, commit, observe: false }));
    clock.advance(900_000);
    void managers[1]?.tick();
    expect(row).toMatchObject({ status: "expired", version: 2 });
    const claims = ["g1", "g2"].map((owner) => {
      const step = applyDeadlineEvent(row, { type: "claim-cleanup", attempt: "a1", owner }, sec(900));
      row = step.state;
      return step.outcome;
    });
    expect(claims).toEqual([
      { applied: true, changed: true, claim: 1 },
      { applied: false, why: "claimed", changed: false },
    ]);
    for (const manager of managers) expect(manager.state.status).toBe("expired");
  });

  it("D-45 a cleanup that died is run again, with the same attempt as its key", () => {
    const d = new Driven(started(D1));
    d.at(900, { type: "tick" });
    d.at(900, { type: "claim-cleanup", owner: "g" });
    const again = new Driven(stored(d.state));
    expect(again.at(950, { type: "claim-cleanup", owner: "g" })).toMatchObject({ applied: true, claim: 2 });
    again.at(951, { type: "cleanup-done", claim: 2, ok: true });
    const last = new Driven(stored(again.state));
    expect(last.at(990, { type: "claim-cleanup", owner: "g" })).toMatchObject({ why: "not-needed" });
  });

  it("D-47 a cleanup that fails, or does not end, stays pending with its error", () => {
    const plan = { ...D1, cleanupBudgetMs: 20_000 };
    const failed = new Driven(started(plan));
    failed.at(900, { type: "tick" });
    failed.at(900, { type: "claim-cleanup", owner: "g" });
    failed.at(901, { type: "cleanup-done", claim: 1, ok: false, error: "EBUSY" });
    expect(failed.state).toMatchObject({
      status: "expired",
      cleanup: { status: "pending", error: "EBUSY", claim: null },
    });
    const hung = new Driven(started(plan));
    hung.at(900, { type: "tick" });
    hung.at(900, { type: "claim-cleanup", owner: "g1" });
    expect(hung.at(919.999, { type: "claim-cleanup", owner: "g2" })).toMatchObject({ why: "claimed" });
    expect(hung.at(920, { type: "cleanup-done", claim: 1, ok: true })).toMatchObject({ overrun: true });
    expect(hung.state.cleanup).toMatchObject({
      status: "pending",
      error: "cleanup did not finish within 20 s",
    });
    expect(hung.at(921, { type: "claim-cleanup", owner: "g2" })).toMatchObject({ claim: 2 });
  });
});
