import { readDeadline } from "slipway";
import { isComingUp } from "./phase.js";
import type { SandboxRecord } from "./record.js";

/** Work that was asked for is looked at again after this, should whoever took it have died. */
const FORGOTTEN_WORK_MS = 5000;

/** When somebody has to look at a record though nothing happens to it, `null` for never. Pure. */
export function dueAt(record: SandboxRecord): number | null {
  const instants = [
    deadlineDue(record),
    cleanupDue(record),
    launchDue(record),
    requestDue(record),
    record.restartAt,
  ];
  const due = instants.filter((at) => at !== null);
  return due.length === 0 ? null : Math.min(...due);
}

/** Its deadline, or before that the moment at which the passing of time is to be recorded. */
function deadlineDue({ deadline }: SandboxRecord): number | null {
  if (deadline?.status !== "active") return null;
  const { deadlineAt } = readDeadline(deadline, deadline.observedAt);
  const observation = deadline.observedAt + deadline.plan.observeEveryMs + 1;
  return deadlineAt === null ? observation : Math.min(deadlineAt, observation);
}

function cleanupDue({ deadline, cleanupNotBefore }: SandboxRecord): number | null {
  if (deadline?.cleanup.status !== "pending") return null;
  return deadline.cleanup.claim?.until ?? cleanupNotBefore;
}

function launchDue(record: SandboxRecord): number | null {
  const { phase, deadline, instance, lease } = record;
  if (!isComingUp(phase) || deadline?.status !== "active") return null;
  if (instance !== null && instance.launchedAt !== null) return null;
  return lease?.until ?? record.launchNotBefore;
}

function requestDue(record: SandboxRecord): number | null {
  const asked = record.phase === "Stopping" || record.phase === "Deleting" || record.startPending;
  return asked && record.deadline?.cleanup.status !== "pending" ? record.since + FORGOTTEN_WORK_MS : null;
}
