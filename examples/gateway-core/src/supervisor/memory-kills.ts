import { readFileSync } from "node:fs";

/** Of the control group that this process is in, as a container sees it: version 2, and the memory part of version 1. */
const COUNTERS = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"] as const;

/** What a shell says of a command that SIGKILL ended. */
const KILLED = 137;

/**
 * How many processes of this control group the kernel killed for lack of memory so far; null where nobody counts.
 *
 * @param files - Tried in this order.
 */
export function memoryKills(files: readonly string[] = COUNTERS): number | null {
  for (const file of files) {
    const count = /^oom_kill (\d+)$/m.exec(textOf(file))?.[1];
    if (count !== undefined) return Number(count);
  }
  return null;
}

/** Read at once: what lacks memory may be killed before a reading in the background has begun. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/**
 * An end is compared with a count that is older than this and younger than twice that: a kill long before it is no
 * reason for it, and one that was counted just before the end was heard of is.
 */
const COUNT_EVERY_MS = 5000;

/** Follows the kernel's count while a main process runs. For a control group that is the sandbox's own alone. */
export class MemoryWatch {
  readonly #read: () => number | null;
  readonly #timer: NodeJS.Timeout;
  #before: number | null;

  constructor(read: () => number | null = memoryKills) {
    this.#read = read;
    this.#before = read();
    let latest = this.#before;
    this.#timer = setInterval(() => {
      this.#before = latest;
      latest = read();
    }, COUNT_EVERY_MS).unref();
  }

  /** Whether the main process ended for lack of memory. Ends the watch. */
  wasReasonOf(exit: Exit): boolean {
    clearInterval(this.#timer);
    return isMemoryKill(exit, this.#before, this.#read());
  }
}

interface Exit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/**
 * Whether a process ended for lack of memory: it was killed, and the kernel's count rose. A kill alone may be
 * anybody's, and a count that rose may be that of a process which this one outlived.
 */
export function isMemoryKill(
  { exitCode, signal }: Exit,
  before: number | null,
  after: number | null,
): boolean {
  const killed = signal === "SIGKILL" || exitCode === KILLED;
  return killed && before !== null && after !== null && after > before;
}
