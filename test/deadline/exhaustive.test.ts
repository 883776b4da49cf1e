import { describe, expect, it } from "vitest";
import {
  applyDeadlineEvent,
  readDeadline,
  startAttempt,
  type DeadlineEvent,
  type DeadlineState,
} from "../../src/deadline/index.js";
import { decodeDeadlineState } from "../../src/schema/index.js";

/** A plan small enough that every state it can be in is visited. */
const plan = {
  phases: [
    { name: "prepare", budgetMs: 3, stallMs: 2 },
    { name: "admission", budgetMs: 2, renewOn: "change" as const, ceilingMs: 3 },
  ],
  ceilingMs: 5,
  cleanupBudgetMs: 1,
  observeEveryMs: 1,
};

const LAST_AT = 7;

const attempt = "a1";
const alphabet: readonly DeadlineEvent[] = [
  { type: "tick" },
  { type: "complete", attempt: "other" },
  { type: "progress", attempt, phase: "prepare", position: 1 },
  { type: "progress", attempt, phase: "prepare", position: 2 },
  { type: "enter", attempt, phase: "prepare" },
  { type: "enter", attempt, phase: "admission" },
  { type: "change", attempt, generation: 2, digest: "d1" },
  { type: "change", attempt, generation: 3, digest: "d2" },
  { type: "reject", attempt, generation: 2 },
  { type: "reject", attempt, generation: 3 },
  { type: "pause", attempt, seq: 1 },
  { type: "resume", attempt, seq: 2 },
  { type: "complete", attempt },
  { type: "cancel", attempt, reason: "stop" },
  { type: "claim-cleanup", attempt, owner: "g1" },
  { type: "claim-cleanup", attempt, owner: "g2" },
  { type: "cleanup-done", attempt, claim: 1, ok: true },
  { type: "cleanup-done", attempt, claim: 1, ok: false },
  { type: "waive-cleanup", attempt, by: "op", reason: "gone" },
];

/**
 * What tells two states apart for everything that can still happen to them: not how often they were written, and of
 * a settled one only its cleanup, for nothing else of it changes any more (which the walk itself checks).
 */
function keyOf(state: DeadlineState, now: number): string {
  if (state.status !== "active") return JSON.stringify([state.status, state.cleanup, now]);
  return JSON.stringify([{ ...state, version: 0, plan: 0, rejection: state.rejection?.generation }, now]);
}

interface Node {
  readonly state: DeadlineState;
  readonly now: number;
}

function explore(
  visit: (before: Node, event: DeadlineEvent, after: DeadlineState, changed: boolean) => void,
): number {
  const { state } = startAttempt(plan, { attempt, now: 0, configuration: { generation: 1, digest: "d1" } });
  if (state === undefined) throw new Error("refused");
  const root: Node = { state, now: 0 };
  const seen = new Set([keyOf(root.state, root.now)]);
  const open = [root];
  const reach = (next: Node): void => {
    // Claims are counted without end: three of them show everything that more would.
    if (next.state.cleanup.claims > 3) return;
    const key = keyOf(next.state, next.now);
    if (seen.has(key)) return;
    seen.add(key);
    open.push(next);
  };
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.now < LAST_AT) reach({ state: node.state, now: node.now + 1 });
    for (const event of alphabet) {
      const { state: after, outcome } = applyDeadlineEvent(node.state, event, node.now);
      visit(node, event, after, outcome.changed);
      reach({ state: after, now: node.now });
    }
  }
  return seen.size;
}

describe("every reachable state of a small plan", () => {
  it("keeps every invariant of the deadline", () => {
    const statuses = new Set<string>();
    let transitions = 0;
    const faults: string[] = [];
    const check = (holds: boolean, rule: string, node: Node, event: DeadlineEvent): void => {
      if (!holds && faults.length < 5) faults.push(`${rule}: ${JSON.stringify({ event, ...node })}`);
    };
    const states = explore((node, event, after, changed) => {
      const { state: before, now } = node;
      transitions += 1;
      statuses.add(after.status);
      check(changed === (after !== before), "written exactly when changed", node, event);
      check(
        after.status === "active" || (after.expiry?.at ?? 0) <= 5,
        "no expiry after the ceiling",
        node,
        event,
      );
      check(after.status !== "active" || now < 5, "nothing lives at the ceiling", node, event);
      check(
        before.status === "active" || after.status === before.status,
        "a settled state stays",
        node,
        event,
      );
      const gained = readDeadline(after, now).remainingMs > readDeadline(before, now).remainingMs;
      check(
        !gained || ["enter", "change", "reject", "pause", "resume", "progress"].includes(event.type),
        "only these give time",
        node,
        event,
      );
      check(
        after.windowEndsAt === null || after.windowEndsAt - (after.pausedAt ?? after.observedAt) <= 3,
        "at most one budget",
        node,
        event,
      );
    });
    expect(faults).toEqual([]);
    expect([...statuses].sort()).toEqual(["active", "cancelled", "completed", "expired"]);
    expect(states).toBeGreaterThan(5000);
    expect(transitions).toBeGreaterThan(100_000);
  });

  it("is read back as it was written", () => {
    const decoded = new Set<string>();
    explore(({ now }, _event, after) => {
      const key = keyOf(after, now);
      if (decoded.has(key)) return;
      decoded.add(key);
      const text = JSON.stringify(after);
      if (JSON.stringify(decodeDeadlineState(JSON.parse(text))) !== text) expect.fail(text);
    });
    expect(decoded.size).toBeGreaterThan(1000);
  });
});
