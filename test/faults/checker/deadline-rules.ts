import { readDeadline, type DeadlineState } from "slipway";
import { contradictions } from "../../../examples/gateway-core/test/kill-invariants.js";
import { CLOCK_MARGIN_MS, pairsOf, type Pair, type SandboxHistory, type Violation } from "./history.js";

/** No window grew, and nothing of a deadline moved, without a real change or the first rejection of a content. */
export function noDeadlineExtended(history: SandboxHistory): Violation[] {
  const { id } = history;
  return pairsOf(history).flatMap(({ before, after }) =>
    contradictions(new Map([[id, before.record]]), new Map([[id, after.record]])).map((detail) => ({
      rule: "deadline-extended" as const,
      sandbox: id,
      version: after.version,
      detail: detail.slice(id.length + 2),
    })),
  );
}

/**
 * After its deadline an attempt can only expire. A write that was decided in time may arrive late, but one that was
 * decided on a version from after the deadline was decided after it as well.
 */
export function noExpiryOverruled(history: SandboxHistory): Violation[] {
  return pairsOf(history).flatMap((pair) => {
    const detail = overruled(pair);
    if (detail === null) return [];
    return [{ rule: "expiry-overruled", sandbox: history.id, version: pair.after.version, detail }];
  });
}

function overruled({ before, after }: Pair): string | null {
  const old = before.record.deadline;
  const now = after.record.deadline;
  if (old?.status !== "active" || now === null) return null;
  const dueAt = dueOf(old);
  if (dueAt === null) return null;
  if (now.attempt !== old.attempt) return "a new attempt began though the one before was never settled";
  if (now.version === old.version || now.status === "expired") return null;
  const stamped = [now.completedAt, now.cancellation?.at ?? null, enteredAt(old, now)];
  const late = stamped.find((at) => at !== null && at >= dueAt);
  if (late !== undefined && late !== null) return `something happened ${late - dueAt} ms after the deadline`;
  if (before.at < dueAt + CLOCK_MARGIN_MS) return null;
  return `${Math.round(before.at - dueAt)} ms after the deadline the state was written, and then changed, as ${now.status}`;
}

function dueOf(state: DeadlineState): number | null {
  return readDeadline(state, state.observedAt).deadlineAt;
}

function enteredAt(old: DeadlineState, now: DeadlineState): number | null {
  return now.phase === old.phase ? null : now.phaseEnteredAt;
}

/** An expiry is written after its deadline, by the database's time, and says so itself. */
export function noneExpiredEarly(history: SandboxHistory): Violation[] {
  const { id, versions } = history;
  return versions.flatMap(({ at, version, record }): Violation[] => {
    const expiry = record?.deadline?.expiry ?? null;
    if (expiry === null) return [];
    const early = Math.max(expiry.at - expiry.observedAt, expiry.at - at - CLOCK_MARGIN_MS);
    if (early <= 0) return [];
    return [{ rule: "expired-early", sandbox: id, version, detail: `${Math.round(early)} ms early` }];
  });
}

/** What settled stays what it settled as, and an attempt whose successor has begun never comes back. */
export function noneRevived({ id, versions }: SandboxHistory): Violation[] {
  const found: Violation[] = [];
  const settled = new Map<string, string>();
  const numbers = new Map<string, number>();
  let current: string | null = null;
  const past = new Set<string>();
  for (const { version, record } of versions) {
    const state = record?.deadline ?? null;
    if (record === null || state === null) continue;
    const revived = (detail: string): void => {
      found.push({ rule: "attempt-revived", sandbox: id, version, detail });
    };
    const { attempt, status } = state;
    if (current !== null && attempt !== current) past.add(current);
    if (past.has(attempt)) revived("an attempt came back after its successor had begun");
    current = attempt;
    const number = numbers.get(attempt) ?? record.attemptNumber;
    if (number !== record.attemptNumber)
      revived(`attempts ${number} and ${record.attemptNumber} have one token`);
    numbers.set(attempt, number);
    const before = settled.get(attempt);
    if (before !== undefined && before !== status) revived(`${before} became ${status}`);
    if (status !== "active") settled.set(attempt, status);
    if (status === "expired" && record.phase === "Ready") revived("Ready though it expired");
  }
  return found;
}

/** The cleanup of every attempt that expired was claimed and done, before the next attempt and before the removal. */
export function everyExpiryCleanedUp({ id, versions, end }: SandboxHistory): Violation[] {
  const owed = new Map<string, number>();
  const found: Violation[] = [];
  const left = (version: number | null, detail: string): void => {
    found.push({ rule: "not-cleaned-up", sandbox: id, version, detail });
  };
  for (const { op, version, record } of versions) {
    const state = record?.deadline ?? null;
    if (op === "delete" && owed.size > 0) left(version, "removed before its cleanup was done");
    if (state === null) continue;
    const others = [...owed.keys()].filter((attempt) => attempt !== state.attempt);
    if (others.length > 0)
      left(version, "the next attempt began before the cleanup of the last one was done");
    for (const attempt of others) owed.delete(attempt);
    if (state.status !== "expired") continue;
    const { status, claims } = state.cleanup;
    if (status === "pending") owed.set(state.attempt, version);
    else owed.delete(state.attempt);
    if (status === "done" && claims === 0) left(version, "done without a claim");
    if (status === "none") left(version, "expired without a cleanup");
  }
  const last = versions.at(-1);
  if (last?.op !== "delete") for (const version of owed.values()) left(version, "still owed at the end");
  for (const what of end.left) left(null, `left behind: ${what}`);
  return found;
}
