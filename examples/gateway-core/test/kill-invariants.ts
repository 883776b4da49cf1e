import type { DeadlineState } from "slipway";
import type { SandboxRecord } from "../src/record/record.js";

/** What one look at the store found, by id. */
export type Snapshot = ReadonlyMap<string, SandboxRecord>;

/** Every way in which a later look contradicts an earlier one. Empty when nothing was extended, revived or forgotten. */
export function contradictions(before: Snapshot, after: Snapshot): string[] {
  const faults: string[] = [];
  for (const [id, old] of before) {
    const record = after.get(id);
    if (record === undefined || old.deadline === null || record.deadline === null) continue;
    if (record.attemptNumber < old.attemptNumber) faults.push(`${id}: attempt went back`);
    if (record.deadline.attempt !== old.deadline.attempt) {
      if (old.deadline.status === "active" && record.attemptNumber === old.attemptNumber) {
        faults.push(`${id}: another token for the same attempt`);
      }
      continue;
    }
    faults.push(...sameAttempt(old.deadline, record.deadline).map((fault) => `${id}: ${fault}`));
  }
  return faults;
}

function sameAttempt(old: DeadlineState, now: DeadlineState): string[] {
  const faults: string[] = [];
  if (now.version < old.version) faults.push("the state went back to an older version");
  if (now.startedAt !== old.startedAt) faults.push("the start moved");
  if (JSON.stringify(now.plan) !== JSON.stringify(old.plan)) faults.push("the plan changed");
  if (now.observedAt < old.observedAt) faults.push("time went back");
  if (old.status !== "active" && now.status !== old.status) faults.push(`${old.status} became ${now.status}`);
  if (old.expiry !== null && now.expiry?.at !== old.expiry.at) faults.push("the expiry moved");
  if (old.cleanup.status === "done" && now.cleanup.status !== "done")
    faults.push("a finished cleanup came back");
  if (now.phase !== old.phase) {
    if (old.phase === "admission") faults.push("the phase went back");
    return faults;
  }
  if (now.phaseEnteredAt !== old.phaseEnteredAt) faults.push("the entry of the phase moved");
  const grew = (now.windowEndsAt ?? 0) > (old.windowEndsAt ?? 0);
  const changed = now.configuration?.digest !== old.configuration?.digest;
  const rejected = now.spentRejections.length > old.spentRejections.length;
  if (grew && !changed && !rejected)
    faults.push("the window grew without a real change or a first rejection");
  return faults;
}

/** Faults of one state on its own: an expiry before its deadline, a window beyond its ceiling. */
export function inconsistencies(snapshot: Snapshot): string[] {
  const faults: string[] = [];
  for (const [id, { deadline, phase }] of snapshot) {
    if (deadline === null) continue;
    if (deadline.expiry !== null && deadline.expiry.observedAt < deadline.expiry.at) {
      faults.push(`${id}: expired ${deadline.expiry.at - deadline.expiry.observedAt} ms early`);
    }
    if (deadline.status === "expired" && phase === "Ready") faults.push(`${id}: Ready though expired`);
    if (deadline.status === "active" && phase === "Ready")
      faults.push(`${id}: Ready while its deadline runs`);
  }
  return faults;
}
