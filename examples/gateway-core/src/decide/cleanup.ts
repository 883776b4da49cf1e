import type { SandboxRecord } from "../record/record.js";
import { applyToDeadline, observeTime, type Decision } from "./decision.js";

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

/** The right to clean up one attempt, written before anything is touched. */
export interface CleanupClaim {
  readonly attempt: string;
  readonly claim: number;
  readonly until: number;
}

export function claimCleanup(
  found: SandboxRecord,
  owner: string,
  now: number,
): Decision<CleanupClaim | null> {
  const record = observeTime(found, now);
  const attempt = record.deadline?.attempt ?? "";
  const { record: next, outcome } = applyToDeadline(record, { type: "claim-cleanup", attempt, owner }, now);
  const until = next.deadline?.cleanup.claim?.until;
  if (!outcome.applied || outcome.claim === undefined || until === undefined)
    return { record: next, result: null };
  return { record: next, result: { attempt, claim: outcome.claim, until } };
}

/** A cleanup that failed, or took longer than its lease, frees the claim and is tried again after a while. */
export function finishCleanup(
  record: SandboxRecord,
  end: CleanupClaim & { readonly ok: boolean; readonly error?: string | undefined },
  now: number,
): Decision<boolean> {
  const { attempt, claim, ok, error } = end;
  const event = { type: "cleanup-done", attempt, claim, ok, error } as const;
  const { record: next, outcome } = applyToDeadline(record, event, now);
  if (!outcome.applied) return { record: next, result: false };
  if (next.deadline?.cleanup.status === "done") {
    return { record: { ...next, instance: null, lease: null, cleanupFailures: 0 }, result: true };
  }
  const wait = Math.min(FIRST_RETRY_MS * 2 ** record.cleanupFailures, LONGEST_RETRY_MS);
  const failed = { cleanupFailures: record.cleanupFailures + 1, cleanupNotBefore: now + wait };
  return { record: { ...next, ...failed }, result: false };
}
