import { after as afterSteps } from "./after.js";
import type { DeadlineState } from "../../src/deadline/index.js";
import { isSlipwayError, type SlipwayError } from "../../src/errors.js";
import { decodeDeadlineState } from "../../src/schema/deadline-state.js";

export const plan = {
  phases: [
    {
      name: "prepare",
      budgetMs: 1000,
      stallMs: { download: 100 },
      timeoutReason: "ImagePreparationTimedOut",
    },
    { name: "admit", budgetMs: 500, renewOn: "change" as const, ceilingMs: 900 },
  ],
  ceilingMs: 5000,
};

const after = (...steps: readonly (readonly [number, object])[]): DeadlineState => afterSteps(plan, ...steps);

const progress = { type: "progress", phase: "prepare", step: "download", part: "l1", position: 7, run: 2 };
export const samples: Readonly<Record<string, DeadlineState>> = {
  fresh: after(),
  preparing: after([10, progress]),
  paused: after([10, progress], [20, { type: "pause", seq: 4 }]),
  rejected: after(
    [10, { type: "enter", phase: "admit" }],
    [20, { type: "reject", generation: 1, reason: "R", message: "m" }],
  ),
  renewed: after(
    [10, { type: "enter", phase: "admit" }],
    [20, { type: "change", generation: 2, digest: "d2" }],
  ),
  completed: after([10, { type: "enter", phase: "admit" }], [20, { type: "complete" }]),
  cancelled: after([10, { type: "cancel", reason: "stop" }]),
  stalled: after([10, progress], [500, { type: "tick" }]),
  claimed: after([1000, { type: "tick" }], [1001, { type: "claim-cleanup", owner: "g" }]),
  cleaned: after(
    [1000, { type: "tick" }],
    [1001, { type: "claim-cleanup", owner: "g" }],
    [1002, { type: "cleanup-done", claim: 1, ok: true }],
  ),
  waived: after([1000, { type: "tick" }], [1001, { type: "waive-cleanup", by: "op", reason: "gone" }]),
};

export const copy = (state: DeadlineState): Record<string, unknown> =>
  JSON.parse(JSON.stringify(state)) as Record<string, unknown>;

export function faultOf(value: unknown): SlipwayError {
  try {
    decodeDeadlineState(value);
  } catch (error) {
    if (isSlipwayError(error)) return error;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(value)}`);
}
