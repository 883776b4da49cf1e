import { describe, expect, it } from "vitest";
import { attempt, fresh, plan, run, why, type WithoutAttempt } from "../../test/deadline/applied-events.js";
import { startAttempt } from "./start.js";

describe("change", () => {
  const change = (generation: number, digest?: string, committedAt?: number): WithoutAttempt => ({
    type: "change",
    generation,
    digest,
    committedAt,
  });

  it("renews from the commit and not from its delivery, and never shortens", () => {
    expect(run(fresh("admit"), [400, change(2, "d2", 300)]).state.windowEndsAt).toBe(800);
    const early = run(fresh("admit"), [400, change(2, "d2", 300)], [450, change(3, "d3", 300)]);
    expect(early.last).toEqual({ applied: true, changed: true, renewed: false });
    expect(early.state).toMatchObject({ windowEndsAt: 800, configuration: { generation: 3 } });
  });

  it("with a commit in the future counts as committed now", () => {
    expect(run(fresh("admit"), [400, change(2, "d2", 99_999)]).state).toMatchObject({
      windowEndsAt: 900,
      configuration: { committedAt: 400 },
    });
  });

  it("is refused when its generation is not greater, or its commit is older than the recorded one", () => {
    const state = run(fresh("admit"), [400, change(5, "d2", 300)]).state;
    expect(run(state, [410, change(5, "d3")]).last).toEqual(why("unchanged"));
    expect(run(state, [410, change(4, "d3")]).last).toEqual(why("unchanged"));
    expect(run(state, [410, change(6, "d3", 299)]).last).toEqual(why("stale-commit"));
  });

  it("with the same content is a no-op write: recorded, and nothing is renewed", () => {
    const { state, last } = run(fresh("admit"), [400, change(2, "d1")]);
    expect(last).toEqual({ applied: true, changed: true, renewed: false });
    expect(state).toMatchObject({
      windowEndsAt: 500,
      configuration: { generation: 2, digest: "d1", committedAt: 400 },
    });
  });

  it("without a digest is a real change, for unknown content is not equal content", () => {
    expect(run(fresh("admit"), [400, change(2)]).last).toMatchObject({ renewed: true });
  });

  it("before any configuration was known is the baseline", () => {
    const { state } = startAttempt(plan, { attempt, now: 0, phase: "admit" });
    const first = run(state!, [100, change(7, "d7")]);
    expect(first.last).toEqual({ applied: true, changed: true, renewed: false });
    expect(run(first.state, [200, change(8, "d8")]).last).toMatchObject({ renewed: true });
  });

  it("outside a phase that renews is recorded only", () => {
    const { state, last } = run(fresh(), [400, change(2, "d2")]);
    expect(last).toMatchObject({ renewed: false });
    expect(state).toMatchObject({ windowEndsAt: 1000, configuration: { generation: 2 } });
  });

  it("while paused counts from the pause, or from the commit when that was before it", () => {
    const paused = run(fresh("admit"), [300, { type: "pause", seq: 1 }]).state;
    expect(run(paused, [400, change(2, "d2", 350)]).state.windowEndsAt).toBe(800);
    expect(run(paused, [400, change(2, "d2", 200)]).state.windowEndsAt).toBe(700);
  });

  it("renews no phase without a budget", () => {
    const unlimited = { phases: [{ name: "admit", renewOn: "change" as const }] };
    expect(run(fresh("admit", unlimited), [400, change(2, "d2")]).last).toMatchObject({ renewed: false });
  });
});

describe("reject", () => {
  const reject = (generation: number, rest: object = {}): WithoutAttempt => ({
    type: "reject",
    generation,
    ...rest,
  });
  const change = (generation: number, digest: string): WithoutAttempt => ({
    type: "change",
    generation,
    digest,
  });

  it("opens one window for its content, whatever is invented afterwards", () => {
    const { state, outcomes } = run(
      fresh("admit"),
      [100, reject(1, { digest: "d1", reason: "Invalid", message: "no such host" })],
      [200, reject(1)],
      [200, reject(1, { message: "another message" })],
      [200, change(2, "d1")],
      [300, reject(2)],
    );
    expect(outcomes).toEqual([
      { applied: true, changed: true, renewed: true },
      why("duplicate"),
      why("duplicate"),
      { applied: true, changed: true, renewed: false },
      why("duplicate"),
    ]);
    expect(state).toMatchObject({
      windowEndsAt: 600,
      rejection: { reason: "Invalid", message: "no such host" },
    });
  });

  it("of content that was refused before is news but no new window", () => {
    const { outcomes, state } = run(
      fresh("admit"),
      [100, reject(1)],
      [110, change(2, "d2")],
      [120, reject(2)],
      [130, change(3, "d1")],
      [140, reject(3, { message: "still wrong" })],
    );
    expect(outcomes.map((outcome) => outcome.applied && outcome.renewed)).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
    expect(state).toMatchObject({ windowEndsAt: 630, rejection: { generation: 3, message: "still wrong" } });
  });

  it.each([
    ["of another generation", 2, {}],
    ["of other content", 1, { digest: "d9" }],
  ])("%s is not current", (_what, generation, rest) => {
    expect(run(fresh("admit"), [100, reject(generation, rest)]).last).toEqual(why("not-current"));
  });

  it("is refused where no configuration is known, and in a phase that admits nothing", () => {
    const { state } = startAttempt(plan, { attempt, now: 0, phase: "admit" });
    expect(run(state!, [100, reject(1)]).last).toEqual(why("not-current"));
    expect(run(fresh(), [100, reject(1)]).last).toEqual(why("other-phase"));
  });

  it("keeps a bounded diagnostic, and a real change forgets it", () => {
    const { state } = run(fresh("admit"), [
      100,
      reject(1, { reason: "r".repeat(999), message: "m".repeat(99_999) }),
    ]);
    expect(state.rejection?.reason).toHaveLength(256);
    expect(state.rejection?.message).toHaveLength(2048);
    expect(run(state, [110, change(2, "d2")]).state.rejection).toBe(null);
  });

  it("while paused counts from the pause", () => {
    const { state } = run(fresh("admit"), [300, { type: "pause", seq: 1 }], [400, reject(1)]);
    expect(state.windowEndsAt).toBe(800);
  });
});
