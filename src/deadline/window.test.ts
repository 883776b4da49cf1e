import { describe, expect, it } from "vitest";
import { applyDeadlineEvent } from "./apply.js";
import type { ChangeEvent, RejectEvent } from "./event.js";
import { startAttempt, type StartConfiguration } from "./start.js";
import type { DeadlineState } from "./state.js";

const attempt = "a1";
const plan = { phases: [{ name: "admit", budgetMs: 500, renewOn: "change" as const }] };

function fresh(
  configuration: StartConfiguration | null,
  definition: Parameters<typeof startAttempt>[0] = plan,
) {
  const { state } = startAttempt(definition, { attempt, now: 0, configuration });
  if (state === undefined) throw new Error("refused");
  return state;
}

const change = (state: DeadlineState, now: number, event: Omit<ChangeEvent, "type" | "attempt">) =>
  applyDeadlineEvent(state, { type: "change", attempt, ...event }, now);
const reject = (state: DeadlineState, now: number, event: Omit<RejectEvent, "type" | "attempt">) =>
  applyDeadlineEvent(state, { type: "reject", attempt, ...event }, now);

describe("a change", () => {
  it("may be committed in the very instant of the one before, and when that instant is not known", () => {
    const known = fresh({ generation: 1, digest: "d1", committedAt: 0 });
    expect(change(known, 10, { generation: 2, digest: "d2", committedAt: 0 }).outcome.applied).toBe(true);
    const unknown = fresh({ generation: 1, digest: "d1" });
    expect(change(unknown, 10, { generation: 2, digest: "d2", committedAt: -5 }).outcome.applied).toBe(true);
  });
});

describe("a rejection", () => {
  it("is about the recorded generation when only one side knows a digest", () => {
    expect(reject(fresh({ generation: 1, digest: "d1" }), 1, { generation: 1 }).outcome.applied).toBe(true);
    expect(reject(fresh({ generation: 1 }), 1, { generation: 1, digest: "d1" }).outcome.applied).toBe(true);
  });

  it("of content without a digest opens one window for each generation", () => {
    let state = reject(fresh({ generation: 1 }), 10, { generation: 1 }).state;
    state = change(state, 20, { generation: 2, committedAt: 0 }).state;
    const second = reject(state, 30, { generation: 2 });
    expect(second.outcome).toMatchObject({ applied: true, renewed: true });
    expect(second.state.windowEndsAt).toBe(530);
  });

  it("takes an empty diagnostic for none", () => {
    const { state } = reject(fresh({ generation: 1 }), 1, { generation: 1, reason: "", message: "" });
    expect(state.rejection).toMatchObject({ reason: null, message: null });
  });

  it("remembers the latest 64 contents, so that a record does not grow without end", () => {
    let state = fresh({ generation: 1, digest: "d1", committedAt: 0 });
    for (let generation = 1; generation <= 70; generation += 1) {
      state = reject(state, generation, { generation }).state;
      state = change(state, generation, { generation: generation + 1, digest: `d${generation + 1}` }).state;
    }
    expect(state.spentRejections).toHaveLength(64);
    expect(state.spentRejections.at(0)).toContain("d7");
    expect(state.spentRejections.at(-1)).toContain("d70");
  });
});
