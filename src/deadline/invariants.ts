import type { Fault } from "../errors.js";
import { deadlineAt, isLastPhase, limitedBy, phaseOf } from "./bounds.js";
import { after } from "./instant.js";
import { MAX_STEPS } from "./limits.js";
import type { DeadlinePhase } from "./plan.js";
import type { DeadlineState } from "./state.js";
import { contentOf } from "./window.js";

/**
 * The contradictions of a well-shaped state, lazily. Each rule holds for every state that this library writes; a
 * record that breaks one was damaged or invented, and reading it as it is could grant a window that nobody opened.
 *
 * @internal
 */
export function* stateFaults(state: DeadlineState): Generator<Fault> {
  const phase = phaseOf(state.plan, state.phase);
  if (phase === undefined) {
    yield { field: "phase", expected: "a phase of the plan", value: state.phase };
    return;
  }
  yield* orderFaults(state);
  yield* configurationFaults(state);
  yield* windowFaults(state, phase);
  yield* pauseFaults(state);
  yield* markFaults(state);
  yield* stallFaults(state, phase);
  yield* statusFaults(state, phase);
  yield* cleanupFaults(state);
}

function* orderFaults(state: DeadlineState): Generator<Fault> {
  yield* notAfter("startedAt", state.startedAt, "phaseEnteredAt", state.phaseEnteredAt);
  yield* notAfter("phaseEnteredAt", state.phaseEnteredAt, "observedAt", state.observedAt);
  if (state.phase === state.plan.phases[0]?.name && state.phaseEnteredAt !== state.startedAt) {
    const expected = `startedAt (${state.startedAt}), for it is the first phase`;
    yield { field: "phaseEnteredAt", expected, value: state.phaseEnteredAt };
  }
  const { parentDeadlineAt } = state;
  if (parentDeadlineAt !== null && parentDeadlineAt <= state.startedAt) {
    yield {
      field: "parentDeadlineAt",
      expected: `after startedAt (${state.startedAt})`,
      value: parentDeadlineAt,
    };
  }
}

/** The instant time stands at for budget and stall: the pause, or the latest that is known. */
function countedUntil(state: DeadlineState): number {
  return state.pausedAt ?? state.observedAt;
}

/** The earliest instant from which the current phase can have been counted. */
function countedFrom(state: DeadlineState): number {
  return Math.min(state.phaseEnteredAt, state.pausedAt ?? state.phaseEnteredAt);
}

function* windowFaults(state: DeadlineState, phase: DeadlinePhase): Generator<Fault> {
  const field = "windowEndsAt";
  const value = state.windowEndsAt;
  if (phase.budgetMs === undefined) {
    if (value !== null) yield { field, expected: "null, for the phase has no budget", value };
    return;
  }
  if (value === null) {
    yield { field, expected: "an instant, for the phase has a budget", value };
    return;
  }
  const first = after(countedFrom(state), phase.budgetMs);
  const renewable = phase.renewOn !== undefined && state.configuration !== null;
  const last = renewable || state.pauseSeq !== null ? after(countedUntil(state), phase.budgetMs) : first;
  if (value < first || value > last) {
    const expected =
      first === last ? `${first}, the phase's entry and budget` : `between ${first} and ${last}`;
    yield { field, expected, value };
  }
}

function* pauseFaults(state: DeadlineState): Generator<Fault> {
  const { pausedAt, pauseSeq } = state;
  if (pauseSeq !== null && state.plan.ceilingMs === undefined) {
    yield { field: "pauseSeq", expected: "null, for a plan without ceilingMs cannot pause", value: pauseSeq };
  }
  if (pausedAt === null) return;
  if (pauseSeq === null) yield { field: "pauseSeq", expected: "the seq of the pause", value: pauseSeq };
  yield* notAfter("startedAt", state.startedAt, "pausedAt", pausedAt);
  yield* notAfter("pausedAt", pausedAt, "observedAt", state.observedAt);
}

function* markFaults(state: DeadlineState): Generator<Fault> {
  const steps = new Set(state.marks.map((mark) => mark.step)).size;
  if (steps > MAX_STEPS) yield { field: "marks", expected: `at most ${MAX_STEPS} steps`, value: state.marks };
  const keys = new Set<string>();
  for (const [index, mark] of state.marks.entries()) {
    const key = JSON.stringify([mark.step, mark.part]);
    if (keys.has(key))
      yield { field: `marks[${index}]`, expected: "one mark for each (step, part)", value: mark };
    keys.add(key);
  }
}

function* stallFaults(state: DeadlineState, phase: DeadlinePhase): Generator<Fault> {
  const { stallLimitMs, stallEndsAt } = state;
  const limit = stallLimitOf(state, phase);
  if (limit === undefined ? !isLimitOf(phase, stallLimitMs) : stallLimitMs !== limit) {
    const expected =
      limit === undefined ? "a stall limit of the phase" : `${limit}, by the phase and its marks`;
    yield { field: "stallLimitMs", expected, value: stallLimitMs };
  }
  if ((stallLimitMs === null) !== (stallEndsAt === null)) {
    const expected = stallLimitMs === null ? "null, for no stall limit applies" : "an instant";
    yield { field: "stallEndsAt", expected, value: stallEndsAt };
    return;
  }
  if (stallLimitMs === null || stallEndsAt === null) return;
  const first = after(countedFrom(state), stallLimitMs);
  const rearmed = state.marks.length > 0 || state.pauseSeq !== null;
  const last = rearmed ? after(countedUntil(state), stallLimitMs) : first;
  if (stallEndsAt < first || stallEndsAt > last) {
    yield { field: "stallEndsAt", expected: `between ${first} and ${last}`, value: stallEndsAt };
  }
}

/**
 * The stall limit that must be in force: that of the listed step which began last, whatever parts of an earlier one
 * came after it. `undefined` where a run that was begun again may have kept one from before.
 */
function stallLimitOf(state: DeadlineState, phase: DeadlinePhase): number | null | undefined {
  const { stallMs } = phase;
  if (typeof stallMs !== "object") return stallMs ?? null;
  const begun = [...new Set(state.marks.map(({ step }) => step))];
  const latest = begun.findLast((step) => step !== null && Object.hasOwn(stallMs, step));
  return typeof latest === "string" ? stallMs[latest] : state.run === 0 ? null : undefined;
}

/** Whether a phase whose limits stand by step may have this one in force. */
function isLimitOf({ stallMs }: DeadlinePhase, limit: number | null): boolean {
  return limit === null || (typeof stallMs === "object" && Object.values(stallMs).includes(limit));
}

function* configurationFaults(state: DeadlineState): Generator<Fault> {
  const { configuration, rejection } = state;
  if (configuration !== null && configuration.committedAt !== null) {
    yield* notAfter("configuration.committedAt", configuration.committedAt, "observedAt", state.observedAt);
  }
  if (rejection !== null && configuration === null) {
    yield { field: "configuration", expected: "what was rejected", value: configuration };
  }
  if (new Set(state.spentRejections).size < state.spentRejections.length) {
    yield { field: "spentRejections", expected: "every content once", value: state.spentRejections };
  }
  if (state.spentRejections.length > 0 && configuration === null) {
    yield {
      field: "spentRejections",
      expected: "empty, for no configuration is known",
      value: state.spentRejections,
    };
  }
  if (rejection === null || configuration === null) return;
  if (rejection.generation > configuration.generation) {
    const expected = `at most the recorded generation (${configuration.generation})`;
    yield { field: "rejection.generation", expected, value: rejection.generation };
  }
  if (!state.spentRejections.includes(contentOf(configuration))) {
    yield { field: "spentRejections", expected: "the rejected content", value: state.spentRejections };
  }
  yield* between("rejection.at", rejection.at, state.phaseEnteredAt, state.observedAt);
}

function* statusFaults(state: DeadlineState, phase: DeadlinePhase): Generator<Fault> {
  const { status, expiry, completedAt, cancellation } = state;
  yield* presence("expiry", expiry, status === "expired", status);
  yield* presence("completedAt", completedAt, status === "completed", status);
  yield* presence("cancellation", cancellation, status === "cancelled", status);
  const deadline = deadlineAt(state);
  const ended = completedAt ?? cancellation?.at ?? null;
  if (ended !== null) {
    const field = completedAt === null ? "cancellation.at" : "completedAt";
    yield* between(field, ended, state.phaseEnteredAt, state.observedAt);
  }
  if (status === "completed" && !isLastPhase(state)) {
    yield { field: "phase", expected: "the last phase, for the attempt is completed", value: state.phase };
  }
  if (status !== "expired") {
    const lived = ended ?? state.observedAt;
    if (lived >= deadline) {
      yield { field: "status", expected: `"expired", for its deadline was ${deadline}`, value: status };
    }
    return;
  }
  if (expiry === null) return;
  if (expiry.phase !== phase.name) yield { field: "expiry.phase", expected: phase.name, value: expiry.phase };
  if (expiry.at !== deadline)
    yield { field: "expiry.at", expected: `the deadline (${deadline})`, value: expiry.at };
  const bound = limitedBy(state);
  if (expiry.limitedBy !== bound) {
    yield {
      field: "expiry.limitedBy",
      expected: `the bound in force (${bound})`,
      value: expiry.limitedBy,
    };
  }
  if (expiry.reason !== phase.timeoutReason) {
    yield { field: "expiry.reason", expected: phase.timeoutReason, value: expiry.reason };
  }
  yield* notAfter("expiry.at", expiry.at, "expiry.observedAt", expiry.observedAt);
  yield* notAfter("expiry.observedAt", expiry.observedAt, "observedAt", state.observedAt);
}

/** When the attempt was found to be over, after which only its cleanup still happens. */
function settledAt(state: DeadlineState): number {
  return state.expiry?.observedAt ?? state.completedAt ?? state.cancellation?.at ?? state.observedAt;
}

function* cleanupFaults(state: DeadlineState): Generator<Fault> {
  const { cleanup, status } = state;
  const over = settledAt(state);
  const latest =
    cleanup.claim?.at ?? cleanup.doneAt ?? cleanup.waiver?.at ?? (cleanup.claims === 0 ? over : null);
  if (latest !== null && state.observedAt !== latest) {
    yield { field: "observedAt", expected: `${latest}, for nothing happened since`, value: state.observedAt };
  }
  const needed = status === "expired" || status === "cancelled";
  if (needed === (cleanup.status === "none")) {
    const expected = needed ? `"pending", "done" or "waived", for the attempt is ${status}` : `"none"`;
    yield { field: "cleanup.status", expected, value: cleanup.status };
  }
  const { claim, claims } = cleanup;
  yield* presence("cleanup.doneAt", cleanup.doneAt, cleanup.status === "done", cleanup.status);
  yield* presence("cleanup.waiver", cleanup.waiver, cleanup.status === "waived", cleanup.status);
  if (claim !== null && cleanup.status !== "pending") {
    yield { field: "cleanup.claim", expected: `null, for the cleanup is ${cleanup.status}`, value: claim };
  }
  if (cleanup.error !== null && (cleanup.status === "none" || cleanup.status === "done")) {
    yield {
      field: "cleanup.error",
      expected: `null, for the cleanup is ${cleanup.status}`,
      value: cleanup.error,
    };
  }
  if (cleanup.status === "pending" && claims > 0 && claim === null && cleanup.error === null) {
    yield { field: "cleanup.error", expected: "why the latest claim ended", value: cleanup.error };
  }
  const claimed = claim !== null || cleanup.status === "done" || cleanup.error !== null;
  if ((claimed && claims === 0) || (cleanup.status === "none" && claims > 0)) {
    yield { field: "cleanup.claims", expected: claimed ? "at least 1" : "0", value: claims };
  }
  if (cleanup.doneAt !== null) yield* between("cleanup.doneAt", cleanup.doneAt, over, state.observedAt);
  if (cleanup.waiver !== null) {
    yield* between("cleanup.waiver.at", cleanup.waiver.at, over, state.observedAt);
  }
  if (claim === null) return;
  yield* between("cleanup.claim.at", claim.at, over, state.observedAt);
  const until = after(claim.at, state.plan.cleanupBudgetMs);
  if (claim.until !== until) yield { field: "cleanup.claim.until", expected: `${until}`, value: claim.until };
}

function* presence(field: string, value: unknown, wanted: boolean, status: string): Generator<Fault> {
  if ((value !== null) === wanted) return;
  yield {
    field,
    expected: wanted ? `given, for the status is ${status}` : `null, for the status is ${status}`,
    value,
  };
}

function* between(field: string, value: number, first: number, last: number): Generator<Fault> {
  if (value < first || value > last) yield { field, expected: `from ${first} to ${last}`, value };
}

function* notAfter(field: string, value: number, other: string, limit: number): Generator<Fault> {
  if (value > limit) yield { field, expected: `at most ${other} (${limit})`, value };
}
