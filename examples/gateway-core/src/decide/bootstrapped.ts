import { setCondition, type ConditionUpdate } from "slipway";
import type { SandboxRecord } from "../record/record.js";

const TYPE = "Bootstrapped";
const WAITING: readonly string[] = ["BootstrapPending", "BootstrapInProgress"];

type Said = Pick<ConditionUpdate, "reason" | "message" | "cause">;

/** Where the bootstrap of the current attempt stands, as a condition. */
export function withBootstrapped(
  record: SandboxRecord,
  status: "True" | "False",
  said: Said,
  now: number,
): SandboxRecord {
  const conditions = setCondition(record.conditions, { type: TYPE, status, ...said }, now);
  return conditions === record.conditions ? record : { ...record, conditions };
}

/** A new attempt bootstraps anew: what was said of the one before holds no longer. */
export function withBootstrapPending(record: SandboxRecord, now: number): SandboxRecord {
  const said = { reason: "BootstrapPending", message: "The supervisor has not reported yet." };
  return withBootstrapped(record, "False", said, now);
}

/**
 * The bootstrap as the end of its attempt leaves it, so that nothing goes on saying that it is under way: done where the
 * workload was started, else over with the attempt. What the supervisor itself said last of a failure stays.
 */
export function withBootstrapOver(record: SandboxRecord, now: number): SandboxRecord {
  const { deadline, activatedRun } = record;
  if (deadline?.status === "completed" || activatedRun !== null) {
    const message = "The supervisor has its policy, enforces it, and started the main process.";
    return withBootstrapped(record, "True", { reason: "BootstrapSucceeded", message }, now);
  }
  const found = record.conditions.find(({ type }) => type === TYPE);
  if (found === undefined || !WAITING.includes(found.reason)) return record;
  const isExpired = deadline?.status === "expired";
  const reason = isExpired ? "BootstrapDeadlineExceeded" : "BootstrapCancelled";
  const message = isExpired
    ? "The attempt expired before its bootstrap was done."
    : "The attempt was ended before its bootstrap was done.";
  return withBootstrapped(record, "False", { reason, message, cause: found.cause }, now);
}
