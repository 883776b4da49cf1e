import { deadlineAt, isLastPhase, limitedBy, phaseOf } from "./bounds.js";
import { after } from "./instant.js";
import type { DeadlinePhase } from "./plan.js";
import type { DeadlineState } from "./state.js";

/** One contradiction in a state: where it shows, what would be consistent, and what was found. */
export interface StateFault {
  readonly field: string;
  readonly expected: string;
  readonly value: unknown;
}

/**
 * The contradictions of a well-shaped state, lazily. Each rule holds for every state that this library writes; a
 * record that breaks one was damaged or invented, and reading it as it is could grant a window that nobody opened.
 *
 * @internal
 */
export function* stateFaults(state: DeadlineState): Generator<StateFault> {
  const phase = phaseOf(state.plan, state.phase);
  if (phase === undefined) {
    yield { field: "phase", expected: "a phase of the plan", value: state.phase };
    return;
  }
  yield* orderFaults(state);
  yield* windowFaults(state, phase);
  yield* pauseFaults(state);
  yield* markFaults(state);
  yield* stallFaults(state, phase);
  yield* configurationFaults(state);
  yield* statusFaults(state, phase);
  yield* cleanupFaults(state);
}

function* orderFaults(state: DeadlineState): Generator<StateFault> {
  yield* notAfter("startedAt", state.startedAt, "phaseEnteredAt", state.phaseEnteredAt);
  yield* notAfter("phaseEnteredAt", state.phaseEnteredAt, "observedAt", state.observedAt);
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

function* windowFaults(state: DeadlineState, phase: DeadlinePhase): Generator<StateFault> {
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
  const last =
    phase.renewOn === undefined && state.pauseSeq === null
      ? first
      : after(countedUntil(state), phase.budgetMs);
  if (value < first || value > last) {
    const expected =
      first === last ? `${first}, the phase's entry and budget` : `between ${first} and ${last}`;
    yield { field, expected, value };
  }
}

function* pauseFaults(state: DeadlineState): Generator<StateFault> {
  const { pausedAt, pauseSeq } = state;
  if (pauseSeq !== null && state.plan.ceilingMs === undefined) {
    yield { field: "pauseSeq", expected: "null, for a plan without ceilingMs cannot pause", value: pauseSeq };
  }
  if (pausedAt === null) return;
  if (pauseSeq === null) yield { field: "pauseSeq", expected: "the seq of the pause", value: pauseSeq };
  yield* notAfter("startedAt", state.startedAt, "pausedAt", pausedAt);
  yield* notAfter("pausedAt", pausedAt, "observedAt", state.observedAt);
}

function* markFaults(state: DeadlineState): Generator<StateFault> {
  const keys = new Set<string>();
  for (const [index, mark] of state.marks.entries()) {
    const key = JSON.stringify([mark.step, mark.part]);
    if (keys.has(key))
      yield { field: `marks[${index}]`, expected: "one mark for each (step, part)", value: mark };
    keys.add(key);
  }
}

function* stallFaults(state: DeadlineState, phase: DeadlinePhase): Generator<StateFault> {
  const { stallLimitMs, stallEndsAt } = state;
  if (!isLimitOf(phase, stallLimitMs)) {
    yield { field: "stallLimitMs", expected: "a stall limit of the phase", value: stallLimitMs };
  }
  if ((stallLimitMs === null) !== (stallEndsAt === null)) {
    const expected = stallLimitMs === null ? "null, for no stall limit applies" : "an instant";
    yield { field: "stallEndsAt", expected, value: stallEndsAt };
    return;
  }
  if (stallLimitMs === null || stallEndsAt === null) return;
  const first = after(countedFrom(state), stallLimitMs);
  const last = after(countedUntil(state), stallLimitMs);
  if (stallEndsAt < first || stallEndsAt > last) {
    yield { field: "stallEndsAt", expected: `between ${first} and ${last}`, value: stallEndsAt };
  }
}

function isLimitOf(phase: DeadlinePhase, limit: number | null): boolean {
  const { stallMs } = phase;
  if (stallMs === undefined) return limit === null;
  if (typeof stallMs === "number") return limit === stallMs;
  return limit === null || Object.values(stallMs).includes(limit);
}

function* configurationFaults(state: DeadlineState): Generator<StateFault> {
  const { configuration, rejection } = state;
  if (configuration !== null && configuration.committedAt !== null) {
    yield* notAfter("configuration.committedAt", configuration.committedAt, "observedAt", state.observedAt);
  }
  if (rejection === null) return;
  if (configuration === null) {
    yield { field: "configuration", expected: "what was rejected", value: configuration };
    return;
  }
  if (rejection.generation > configuration.generation) {
    const expected = `at most the recorded generation (${configuration.generation})`;
    yield { field: "rejection.generation", expected, value: rejection.generation };
  }
  if (state.spentRejections.length === 0) {
    yield { field: "spentRejections", expected: "the rejected content", value: state.spentRejections };
  }
  yield* notAfter("rejection.at", rejection.at, "observedAt", state.observedAt);
}

function* statusFaults(state: DeadlineState, phase: DeadlinePhase): Generator<StateFault> {
  const { status, expiry, completedAt, cancellation } = state;
  yield* presence("expiry", expiry, status === "expired", status);
  yield* presence("completedAt", completedAt, status === "completed", status);
  yield* presence("cancellation", cancellation, status === "cancelled", status);
  const deadline = deadlineAt(state);
  const ended = completedAt ?? cancellation?.at ?? null;
  if (ended !== null)
    yield* notAfter(
      completedAt === null ? "cancellation.at" : "completedAt",
      ended,
      "observedAt",
      state.observedAt,
    );
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

function* cleanupFaults(state: DeadlineState): Generator<StateFault> {
  const { cleanup, status } = state;
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
  const claimed = claim !== null || cleanup.status === "done" || cleanup.error !== null;
  if ((claimed && claims === 0) || (cleanup.status === "none" && claims > 0)) {
    yield { field: "cleanup.claims", expected: claimed ? "at least 1" : "0", value: claims };
  }
  if (cleanup.doneAt !== null)
    yield* notAfter("cleanup.doneAt", cleanup.doneAt, "observedAt", state.observedAt);
  if (cleanup.waiver !== null) {
    yield* notAfter("cleanup.waiver.at", cleanup.waiver.at, "observedAt", state.observedAt);
  }
  if (claim === null) return;
  yield* notAfter("cleanup.claim.at", claim.at, "observedAt", state.observedAt);
  const until = after(claim.at, state.plan.cleanupBudgetMs);
  if (claim.until !== until) yield { field: "cleanup.claim.until", expected: `${until}`, value: claim.until };
}

function* presence(field: string, value: unknown, wanted: boolean, status: string): Generator<StateFault> {
  if ((value !== null) === wanted) return;
  yield {
    field,
    expected: wanted ? `given, for the status is ${status}` : `null, for the status is ${status}`,
    value,
  };
}

function* notAfter(field: string, value: number, other: string, limit: number): Generator<StateFault> {
  if (value > limit) yield { field, expected: `at most ${other} (${limit})`, value };
}
