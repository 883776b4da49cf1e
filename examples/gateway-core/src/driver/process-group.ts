import type { Clock } from "slipway";
import { sleep } from "../sleep.js";
import { groupMembers, isAlive, type ProcessIdentity } from "./process-identity.js";

const POLL_MS = 50;

/** How the supervisor and what it started are ended: politely, then not. */
export interface EndGroupOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly graceMs: number;
}

/**
 * Ends a process that leads its own group, and the rest of the group. A leader that is not the one on record is
 * somebody else under a reused id and is left alone; a group whose leader ended keeps its id as long as a member
 * lives, so what is found there is still ours.
 */
export async function endGroup(leader: ProcessIdentity, options: EndGroupOptions): Promise<void> {
  const { clock, signal, graceMs } = options;
  if (await isForeign(leader)) return;
  if (!send(leader.pid, "SIGTERM")) return;
  // A stopped process does not see the signal before it is continued.
  send(leader.pid, "SIGCONT");
  const killAt = clock.now() + graceMs;
  while ((await groupMembers(leader.pid)).length > 0) {
    if (await isForeign(leader)) return;
    if (clock.now() >= killAt) send(leader.pid, "SIGKILL");
    await sleep(clock, POLL_MS, signal);
  }
}

async function isForeign(leader: ProcessIdentity): Promise<boolean> {
  if (await isAlive(leader)) return false;
  return (await groupMembers(leader.pid)).includes(leader.pid);
}

function send(group: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(-group, name);
    return true;
  } catch {
    return false;
  }
}
