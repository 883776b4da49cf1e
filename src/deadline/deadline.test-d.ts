/** Checked by the compiler alone: what callers may rely on, and what they are kept from. */
import {
  PhasedDeadline,
  startAttempt,
  type Commit,
  type CommittedDeadline,
  type DeadlineOutcome,
  type DeadlineState,
  type LimitedBy,
  type RefusalReason,
} from "./index.js";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function is<Holds extends true>(_holds: Holds): void {}

const plan = { phases: [{ name: "preparation", budgetMs: 1000 }] };
declare const commit: Commit;

// Without a store the outcome is there at once; with one it is awaited, and the type says so.
const local = PhasedDeadline.start(plan, { attempt: "a1" });
is<Equal<ReturnType<typeof local.enter>, DeadlineOutcome>>(true);
const stored = PhasedDeadline.start(plan, { attempt: "a1", commit });
is<Equal<typeof stored, CommittedDeadline>>(true);
is<Equal<ReturnType<typeof stored.enter>, Promise<DeadlineOutcome>>>(true);

// An outcome is a union: `why` is there only when it was refused.
declare const outcome: DeadlineOutcome;
if (outcome.applied) {
  is<Equal<typeof outcome.claim, number | undefined>>(true);
  // @ts-expect-error -- an applied event has no reason of refusal
  String(outcome.why);
} else {
  is<Equal<typeof outcome.why, RefusalReason>>(true);
}

// A start gives a state or says why not, never both.
const start = startAttempt(plan, { attempt: "a1", now: 0 });
if (start.refused === undefined) is<Equal<typeof start.state, DeadlineState>>(true);
else is<Equal<typeof start.state, undefined>>(true);

// A switch over the bounds is exhaustive.
function name(bound: LimitedBy): string {
  switch (bound) {
    case "budget":
    case "phase-ceiling":
    case "attempt-ceiling":
    case "parent":
    case "stall":
      return bound;
  }
}
name("stall");

// @ts-expect-error -- a state is not changed in place
local.state.version = 2;
// @ts-expect-error -- an attempt has a token
PhasedDeadline.start(plan, {});
// @ts-expect-error -- nobody outside can emit
export type Emit = (typeof local)["emit"];
// @ts-expect-error -- the only renewal there is
startAttempt({ phases: [{ name: "a", renewOn: "progress" }] }, { attempt: "a1", now: 0 });
