import type { Clock } from "slipway";
import { sleep } from "../sleep.js";
import { groupMembers, isAlive, type ProcessIdentity } from "./process-identity.js";

const POLL_MS = 50;
/** Longer than a process takes to become another program. */
const EXEC_MS = 10;

/** How processes are ended: politely, then not. */
export interface EndOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly graceMs: number;
}

/** What there is to end: the group of the noted supervisor, and processes that are known by something else. */
export interface EndTargets {
  readonly leader: ProcessIdentity | null;
  /** Ids of processes that are recognisably the sandbox's, wherever they went. Asked again and again. */
  readonly marked: () => Promise<readonly number[]>;
}

/**
 * Ends a supervisor's group and the processes that are marked as the sandbox's.
 *
 * The group is signalled as a whole only when its leader was seen alive, exactly the one on record, at the beginning:
 * its id cannot be handed out again while a member lives. A leader that is gone proves nothing. The id may have passed
 * on since then, and after a reboot, when no start marker matches, it means nothing at all. What such a group left
 * behind is ended when it is marked, and else left alone.
 */
export async function endProcesses(targets: EndTargets, options: EndOptions): Promise<void> {
  const { clock, signal, graceMs } = options;
  const { leader } = targets;
  let group = leader !== null && (await isAlive(leader)) ? leader.pid : null;
  const killAt = clock.now() + graceMs;
  const asked = new Set<number>();
  let nobody = false;
  const end = (target: number, others: readonly number[] = []): void => {
    if (clock.now() >= killAt) send(target, "SIGKILL");
    if (asked.has(target)) return;
    // Many programs take a second SIGTERM for "at once": a member of the group is not asked by its own id, too.
    for (const each of [target, ...others]) asked.add(each);
    send(target, "SIGTERM");
    // A stopped process does not see the signal before it is continued.
    send(target, "SIGCONT");
  };
  for (;;) {
    if (group !== null && leader !== null && (await isOver(leader))) group = null;
    const marked = await targets.marked();
    if (group === null && marked.length === 0) {
      // In the middle of an exec a process shows no environment: nobody is nobody when looked for twice.
      if (nobody) return;
      nobody = true;
      await sleep(clock, EXEC_MS, signal);
      continue;
    }
    nobody = false;
    if (group !== null) end(-group, await groupMembers(group));
    for (const pid of marked) end(pid);
    await sleep(clock, POLL_MS, signal);
  }
}

/** Whether nobody of the group is left, or its id has passed to somebody else. */
async function isOver(leader: ProcessIdentity): Promise<boolean> {
  const members = await groupMembers(leader.pid);
  return members.length === 0 || (members.includes(leader.pid) && !(await isAlive(leader)));
}

function send(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch {
    // It has ended already.
  }
}
