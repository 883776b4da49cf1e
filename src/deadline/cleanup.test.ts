import { describe, expect, it } from "vitest";
import { fresh, run, why, type WithoutAttempt } from "../../test/deadline/applied-events.js";

describe("cleanup", () => {
  const expired = run(fresh(), [1000, { type: "tick" }]).state;
  const claim = (owner: string): WithoutAttempt => ({ type: "claim-cleanup", owner });
  const done = (number: number, ok: boolean, error?: string): WithoutAttempt => ({
    type: "cleanup-done",
    claim: number,
    ok,
    error,
  });

  it("is claimed by one owner at a time, who may come again", () => {
    const { outcomes } = run(
      expired,
      [1001, claim("g1")],
      [1002, claim("g2")],
      [1003, claim("g1")],
      [1003, done(1, true)],
      [1004, done(2, true)],
      [1005, done(2, true)],
      [1006, claim("g2")],
    );
    expect(outcomes).toEqual([
      { applied: true, changed: true, claim: 1 },
      why("claimed"),
      { applied: true, changed: true, claim: 2 },
      why("not-owner"),
      { applied: true, changed: true },
      why("not-owner"),
      why("not-needed"),
    ]);
  });

  it("passes on when the lease is over, and keeps the failure", () => {
    const { state, outcomes } = run(expired, [1001, claim("g1")], [1051, claim("g2")], [1052, done(1, true)]);
    expect(outcomes[1]).toMatchObject({ claim: 2 });
    expect(outcomes[2]).toEqual(why("not-owner"));
    expect(state.cleanup).toMatchObject({ status: "pending", error: "cleanup did not finish within 0.05 s" });
  });

  it("is not needed by an attempt that lives or completed", () => {
    expect(run(fresh(), [1, claim("g")]).last).toEqual(why("not-needed"));
    expect(run(fresh("settle"), [1, { type: "complete" }], [2, claim("g")]).last).toEqual(why("not-needed"));
    expect(run(fresh(), [1, done(0, true)]).last).toEqual(why("not-owner"));
  });

  it("may be waived by an operator, on the record", () => {
    const { state, outcomes } = run(
      expired,
      [1001, claim("g1")],
      [1002, { type: "waive-cleanup", by: "ops", reason: "the host is gone" }],
      [1003, done(1, true)],
      [1004, { type: "waive-cleanup", by: "ops", reason: "again" }],
    );
    expect(state.cleanup).toMatchObject({
      status: "waived",
      claim: null,
      waiver: { by: "ops", reason: "the host is gone", at: 1002 },
    });
    expect(outcomes.slice(2)).toEqual([why("not-owner"), why("not-needed")]);
  });
});
