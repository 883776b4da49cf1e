import { readFile } from "node:fs/promises";

/** Of the control group that this process is in, as a container sees it: version 2, and the memory part of version 1. */
const COUNTERS = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"] as const;

/** What a shell says of a command that SIGKILL ended. */
const KILLED = 137;

/**
 * How many processes of this control group the kernel killed for lack of memory so far; null where nobody counts.
 *
 * @param files - Tried in this order.
 */
export async function memoryKills(files: readonly string[] = COUNTERS): Promise<number | null> {
  for (const file of files) {
    const text = await readFile(file, "utf8").catch(() => "");
    const count = /^oom_kill (\d+)$/m.exec(text)?.[1];
    if (count !== undefined) return Number(count);
  }
  return null;
}

/**
 * Whether a main process ended for lack of memory: it was killed, and the kernel's count rose while it ran. A kill
 * alone may be anybody's, and a count that rose may be that of a process which the main one outlived.
 */
export function isMemoryKill(
  { exitCode, signal }: { readonly exitCode: number | null; readonly signal: string | null },
  before: number | null,
  after: number | null,
): boolean {
  const killed = signal === "SIGKILL" || exitCode === KILLED;
  return killed && before !== null && after !== null && after > before;
}
