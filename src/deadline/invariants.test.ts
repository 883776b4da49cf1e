import { describe, expect, it } from "vitest";
import { after } from "../../test/deadline/after.js";
import type { DeadlineState } from "./index.js";
import { stateFaults } from "./invariants.js";

const plan = {
  phases: [
    { name: "prepare", budgetMs: 1000, stallMs: { download: 100, extract: 200 } },
    { name: "admit", budgetMs: 500, renewOn: "change" as const, ceilingMs: 900, stallMs: 400 },
  ],
  ceilingMs: 5000,
  cleanupBudgetMs: 50,
};
const free = { phases: [{ name: "only" }] };

const enter = { type: "enter", phase: "admit" };
const progress = { type: "progress", phase: "prepare", step: "download", part: "l1", position: 7 };
const claim = { type: "claim-cleanup", owner: "g" };
const states = {
  fresh: after(plan),
  preparing: after(plan, [10, progress]),
  begunAgain: after(plan, [10, progress], [20, { ...progress, step: "other", run: 1 }]),
  unlisted: after(
    plan,
    [10, progress],
    [20, { ...progress, step: "other" }],
    [30, { ...progress, step: undefined }],
  ),
  layers: after(
    plan,
    [10, progress],
    [20, { ...progress, step: "extract" }],
    [30, { ...progress, part: "l2" }],
  ),
  heldUp: after(plan, [10, enter], [20, { type: "pause", seq: 4 }], [50, { type: "resume", seq: 5 }]),
  paused: after(plan, [10, progress], [20, { type: "pause", seq: 4 }]),
  resumed: after(plan, [20, { type: "pause", seq: 4 }], [50, { type: "resume", seq: 5 }]),
  admitting: after(plan, [10, enter]),
  rejected: after(plan, [10, enter], [20, { type: "reject", generation: 1, reason: "R", message: "m" }]),
  renewed: after(plan, [10, enter], [20, { type: "change", generation: 2, digest: "d2" }]),
  completed: after(plan, [10, enter], [20, { type: "complete" }]),
  cancelled: after(plan, [10, { type: "cancel", reason: "stop" }]),
  stalled: after(plan, [10, progress], [500, { type: "tick" }]),
  expired: after(plan, [1000, { type: "tick" }]),
  claimed: after(plan, [1000, { type: "tick" }], [1001, claim]),
  failed: after(
    plan,
    [1000, { type: "tick" }],
    [1001, claim],
    [1002, { type: "cleanup-done", claim: 1, ok: false, error: "no" }],
  ),
  cleaned: after(
    plan,
    [1000, { type: "tick" }],
    [1001, claim],
    [1002, { type: "cleanup-done", claim: 1, ok: true }],
  ),
  waived: after(plan, [1000, { type: "tick" }], [1001, { type: "waive-cleanup", by: "op", reason: "gone" }]),
  unlimited: after(free),
};
type Name = keyof typeof states;
type Patch = { readonly [Field in keyof DeadlineState]?: unknown };

function faultsOf(name: Name, patch: Patch): readonly string[] {
  const state = { ...states[name], ...patch } as DeadlineState;
  return [...stateFaults(state)].map(({ field, expected }) => `${field}: ${expected}`);
}
const cleanup = (name: Name, patch: object): Patch => ({ cleanup: { ...states[name].cleanup, ...patch } });
const expiry = (patch: object): Patch => ({ expiry: { ...states.expired.expiry, ...patch } });
const mark = { step: "download", part: "l1", position: 7 };

describe("a state that this library wrote", () => {
  it.each(Object.keys(states) as Name[])("contradicts itself nowhere: %s", (name) => {
    expect(faultsOf(name, {})).toEqual([]);
  });

  it.each<[string, Name, Patch]>([
    [
      "a phase entered where it began, though it is not the first",
      "admitting",
      { startedAt: 10, windowEndsAt: 510 },
    ],
    ["a window renewed up to the latest that is known", "admitting", { observedAt: 20, windowEndsAt: 520 }],
    [
      "a configuration without a time",
      "admitting",
      { configuration: { generation: 1, digest: null, committedAt: null } },
    ],
    ["a phase that ended as it was entered", "completed", { completedAt: 10, observedAt: 10 }],
    ["an expiry that was found when it came", "expired", {}],
  ])("is one also with %s", (_what, name, patch) => {
    expect(faultsOf(name, patch)).toEqual([]);
  });
});

describe("a damaged state is told", () => {
  it("that its phase is none of its plan's, and nothing that would follow from it", () => {
    expect(faultsOf("fresh", { phase: "other", observedAt: -1 })).toEqual(["phase: a phase of the plan"]);
  });

  it.each<[Name, Patch, string]>([
    // Order
    ["admitting", { startedAt: 11 }, "startedAt: at most phaseEnteredAt (10)"],
    ["admitting", { observedAt: 9 }, "phaseEnteredAt: at most observedAt (9)"],
    [
      "fresh",
      { phaseEnteredAt: 5, observedAt: 5, windowEndsAt: 1005 },
      "phaseEnteredAt: startedAt (0), for it is the first phase",
    ],
    ["fresh", { parentDeadlineAt: 0 }, "parentDeadlineAt: after startedAt (0)"],
    // Window
    ["unlimited", { windowEndsAt: 5 }, "windowEndsAt: null, for the phase has no budget"],
    ["fresh", { windowEndsAt: null }, "windowEndsAt: an instant, for the phase has a budget"],
    ["fresh", { windowEndsAt: 1001 }, "windowEndsAt: 1000, the phase's entry and budget"],
    ["fresh", { windowEndsAt: 999 }, "windowEndsAt: 1000, the phase's entry and budget"],
    ["fresh", { windowEndsAt: 1500, observedAt: 500 }, "windowEndsAt: 1000, the phase's entry and budget"],
    ["renewed", { windowEndsAt: 521 }, "windowEndsAt: between 510 and 520"],
    ["renewed", { windowEndsAt: 509 }, "windowEndsAt: between 510 and 520"],
    [
      "renewed",
      { windowEndsAt: 520, configuration: null },
      "windowEndsAt: 510, the phase's entry and budget",
    ],
    ["resumed", { windowEndsAt: 1051 }, "windowEndsAt: between 1000 and 1050"],
    ["paused", { windowEndsAt: 1021 }, "windowEndsAt: between 1000 and 1020"],
    // Pause
    ["unlimited", { pauseSeq: 1 }, "pauseSeq: null, for a plan without ceilingMs cannot pause"],
    ["paused", { pauseSeq: null }, "pauseSeq: the seq of the pause"],
    ["paused", { startedAt: 21 }, "startedAt: at most pausedAt (20)"],
    ["paused", { pausedAt: 21 }, "pausedAt: at most observedAt (20)"],
    // Marks
    [
      "fresh",
      { marks: Array.from({ length: 65 }, (_, at) => ({ ...mark, step: `s${at}` })) },
      "marks: at most 64 steps",
    ],
    [
      "preparing",
      { marks: [mark, { ...mark, part: "l2" }, { ...mark, position: 9 }] },
      "marks[2]: one mark for each (step, part)",
    ],
    // Stall
    ["preparing", { stallLimitMs: 200 }, "stallLimitMs: 100, by the phase and its marks"],
    ["preparing", { stallLimitMs: null, stallEndsAt: null }, "stallLimitMs: 100, by the phase and its marks"],
    [
      "preparing",
      { marks: [mark, { ...mark, step: "extract" }] },
      "stallLimitMs: 200, by the phase and its marks",
    ],
    ["fresh", { stallLimitMs: 100, stallEndsAt: 100 }, "stallLimitMs: null, by the phase and its marks"],
    ["begunAgain", { stallLimitMs: 150 }, "stallLimitMs: a stall limit of the phase"],
    ["admitting", { stallLimitMs: 401 }, "stallLimitMs: 400, by the phase and its marks"],
    ["unlimited", { stallLimitMs: 5, stallEndsAt: 5 }, "stallLimitMs: null, by the phase and its marks"],
    ["fresh", { stallEndsAt: 100 }, "stallEndsAt: null, for no stall limit applies"],
    ["preparing", { stallEndsAt: null }, "stallEndsAt: an instant"],
    ["preparing", { stallEndsAt: 111 }, "stallEndsAt: between 100 and 110"],
    ["preparing", { stallEndsAt: 99 }, "stallEndsAt: between 100 and 110"],
    ["admitting", { stallEndsAt: 411, observedAt: 20 }, "stallEndsAt: between 410 and 410"],
    // Configuration
    [
      "fresh",
      { configuration: { generation: 1, digest: null, committedAt: 1 } },
      "configuration.committedAt: at most observedAt (0)",
    ],
    ["rejected", { configuration: null }, "configuration: what was rejected"],
    ["rejected", { configuration: null }, "spentRejections: empty, for no configuration is known"],
    [
      "rejected",
      { spentRejections: [...states.rejected.spentRejections, ...states.rejected.spentRejections] },
      "spentRejections: every content once",
    ],
    ["rejected", { spentRejections: [] }, "spentRejections: the rejected content"],
    [
      "rejected",
      { rejection: { ...states.rejected.rejection, generation: 2 } },
      "rejection.generation: at most the recorded generation (1)",
    ],
    ["rejected", { rejection: { ...states.rejected.rejection, at: 9 } }, "rejection.at: from 10 to 20"],
    ["rejected", { rejection: { ...states.rejected.rejection, at: 21 } }, "rejection.at: from 10 to 20"],
    // Status
    ["fresh", { status: "expired" }, "expiry: given, for the status is expired"],
    ["expired", { status: "active" }, "expiry: null, for the status is active"],
    ["fresh", { status: "completed" }, "completedAt: given, for the status is completed"],
    ["fresh", { status: "completed" }, "phase: the last phase, for the attempt is completed"],
    ["fresh", { completedAt: 0 }, "completedAt: null, for the status is active"],
    ["fresh", { status: "cancelled" }, "cancellation: given, for the status is cancelled"],
    [
      "completed",
      { cancellation: { at: 20, reason: "x" } },
      "cancellation: null, for the status is completed",
    ],
    ["completed", { completedAt: 9 }, "completedAt: from 10 to 20"],
    ["completed", { completedAt: 21 }, "completedAt: from 10 to 20"],
    ["cancelled", { cancellation: { at: 11, reason: "x" } }, "cancellation.at: from 0 to 10"],
    ["fresh", { observedAt: 1000 }, 'status: "expired", for its deadline was 1000'],
    ["completed", { completedAt: 410, observedAt: 410 }, 'status: "expired", for its deadline was 410'],
    ["expired", expiry({ phase: "admit" }), "expiry.phase: prepare"],
    ["expired", expiry({ at: 999 }), "expiry.at: the deadline (1000)"],
    ["expired", expiry({ limitedBy: "stall" }), "expiry.limitedBy: the bound in force (budget)"],
    [
      "expired",
      expiry({ reason: "Other" }),
      `expiry.reason: ${states.expired.plan.phases[0]?.timeoutReason}`,
    ],
    ["expired", expiry({ observedAt: 999 }), "expiry.at: at most expiry.observedAt (999)"],
    ["expired", expiry({ observedAt: 1001 }), "expiry.observedAt: at most observedAt (1000)"],
    // Cleanup
    ["expired", { observedAt: 1001 }, "observedAt: 1000, for nothing happened since"],
    ["claimed", { observedAt: 1002 }, "observedAt: 1001, for nothing happened since"],
    ["cleaned", { observedAt: 1003 }, "observedAt: 1002, for nothing happened since"],
    ["waived", { observedAt: 1003 }, "observedAt: 1001, for nothing happened since"],
    ["completed", { observedAt: 21 }, "observedAt: 20, for nothing happened since"],
    [
      "expired",
      cleanup("expired", { status: "none" }),
      'cleanup.status: "pending", "done" or "waived", for the attempt is expired',
    ],
    [
      "cancelled",
      cleanup("cancelled", { status: "none" }),
      'cleanup.status: "pending", "done" or "waived", for the attempt is cancelled',
    ],
    ["fresh", cleanup("fresh", { status: "pending" }), 'cleanup.status: "none"'],
    ["expired", cleanup("expired", { status: "done" }), "cleanup.doneAt: given, for the status is done"],
    ["expired", cleanup("expired", { doneAt: 1000 }), "cleanup.doneAt: null, for the status is pending"],
    ["expired", cleanup("expired", { status: "waived" }), "cleanup.waiver: given, for the status is waived"],
    [
      "cleaned",
      cleanup("cleaned", { claim: states.claimed.cleanup.claim }),
      "cleanup.claim: null, for the cleanup is done",
    ],
    ["fresh", cleanup("fresh", { error: "no" }), "cleanup.error: null, for the cleanup is none"],
    ["cleaned", cleanup("cleaned", { error: "no" }), "cleanup.error: null, for the cleanup is done"],
    ["failed", cleanup("failed", { error: null }), "cleanup.error: why the latest claim ended"],
    ["claimed", cleanup("claimed", { claims: 0 }), "cleanup.claims: at least 1"],
    ["cleaned", cleanup("cleaned", { claims: 0 }), "cleanup.claims: at least 1"],
    ["failed", cleanup("failed", { claims: 0 }), "cleanup.claims: at least 1"],
    ["fresh", cleanup("fresh", { claims: 1 }), "cleanup.claims: 0"],
    ["cleaned", cleanup("cleaned", { doneAt: 999 }), "cleanup.doneAt: from 1000 to 1002"],
    ["cleaned", cleanup("cleaned", { doneAt: 1003 }), "cleanup.doneAt: from 1000 to 1002"],
    [
      "waived",
      cleanup("waived", { waiver: { by: "op", reason: "x", at: 999 } }),
      "cleanup.waiver.at: from 1000 to 1001",
    ],
    [
      "claimed",
      cleanup("claimed", { claim: { owner: "g", at: 999, until: 1049 } }),
      "cleanup.claim.at: from 1000 to 1001",
    ],
    [
      "claimed",
      cleanup("claimed", { claim: { owner: "g", at: 1001, until: 1052 } }),
      "cleanup.claim.until: 1051",
    ],
  ])("%s with %j: %s", (name, patch, fault) => {
    expect(faultsOf(name, patch)).toContain(fault);
  });

  it("only of what is wrong", () => {
    const marks = [mark, { ...mark, part: "l2" }, { ...mark, position: 9 }];
    expect(faultsOf("preparing", { marks })).toEqual(["marks[2]: one mark for each (step, part)"]);
    const most = Array.from({ length: 64 }, (_, at) => ({ ...mark, step: `s${at}` }));
    expect(faultsOf("fresh", { marks: most })).toEqual([]);
    expect(faultsOf("unlisted", { stallLimitMs: 200 })).toContain(
      "stallLimitMs: 100, by the phase and its marks",
    );
    expect(faultsOf("layers", { stallLimitMs: 100 })).toContain(
      "stallLimitMs: 200, by the phase and its marks",
    );
    expect(faultsOf("heldUp", { stallEndsAt: 451 })).toEqual(["stallEndsAt: between 410 and 450"]);
    expect(faultsOf("cleaned", cleanup("cleaned", { claims: 0 }))).toEqual(["cleanup.claims: at least 1"]);
    expect(faultsOf("failed", cleanup("failed", { error: null }))).toEqual([
      "cleanup.error: why the latest claim ended",
    ]);
    expect(faultsOf("preparing", { stallEndsAt: 111 })).toEqual(["stallEndsAt: between 100 and 110"]);
    expect(faultsOf("expired", expiry({ limitedBy: "stall" }))).toEqual([
      "expiry.limitedBy: the bound in force (budget)",
    ]);
    expect(faultsOf("paused", { pauseSeq: null })).toContain("pauseSeq: the seq of the pause");
    expect(faultsOf("begunAgain", { stallLimitMs: null, stallEndsAt: null })).toEqual([]);
    expect(faultsOf("begunAgain", { stallLimitMs: 200, stallEndsAt: 210 })).toEqual([]);
  });
});
