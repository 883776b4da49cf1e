import { systemClock } from "slipway";
import { setTimeout as delay } from "node:timers/promises";
import { groupMembers } from "../driver/process-identity.js";

const POLL_MS = 50;

/**
 * What runs beside a supervisor in the group that it leads. What left the group is found by the driver, where the
 * system lets it.
 *
 * Nobody is asked to end twice, whoever asked first: many programs take a second SIGTERM for "at once", and leave
 * undone what the first one began.
 */
export class WorkloadGroup {
  readonly #asked = new Set<number>();
  /** Who was a member once. A main process that left the group is none, and is still there. */
  readonly #seen = new Set<number>();
  readonly #spared: () => number | null;

  /** @param spared - A member that is none of the workload, and is needed until that has ended. */
  constructor(spared: () => number | null = () => null) {
    this.#spared = spared;
  }

  /** Somebody else asked everybody who is here now. */
  async wasAsked(): Promise<void> {
    for (const pid of await this.#others()) this.#asked.add(pid);
  }

  nobodyWasAsked(): void {
    this.#asked.clear();
  }

  async hasOthers(): Promise<boolean> {
    return (await this.#others()).length > 0;
  }

  /** Asks everybody who was not asked yet. */
  async ask(): Promise<void> {
    for (const pid of await this.#others()) this.askOne(pid);
  }

  askOne(pid: number): void {
    if (this.#asked.has(pid)) return;
    this.#asked.add(pid);
    send(pid, "SIGTERM");
    // What is stopped does not see the signal before it is continued.
    send(pid, "SIGCONT");
  }

  /** Resolves once nobody is left: asked, and killed when the grace is over. */
  async end(graceMs: number): Promise<void> {
    // A clock that is set leaves the grace as long as it was.
    const killAt = systemClock.now() + graceMs;
    for (;;) {
      const others = await this.#others();
      if (others.length === 0) return;
      const late = systemClock.now() >= killAt;
      for (const pid of others) {
        if (late) send(pid, "SIGKILL");
        else this.askOne(pid);
      }
      await delay(POLL_MS);
    }
  }

  async #others(): Promise<readonly number[]> {
    const asked = [...this.#asked];
    const members = await groupMembers(process.pid).catch((): number[] => []);
    // Started by hand, and not as the leader of a group: then nothing in it is ours to end.
    if (!members.includes(process.pid)) return [];
    // The id of one that has ended may be handed out again, to somebody whom nobody has asked.
    for (const pid of asked) if (this.#seen.has(pid) && !members.includes(pid)) this.#asked.delete(pid);
    for (const pid of members) this.#seen.add(pid);
    const aside = new Set([process.pid, this.#spared()]);
    return members.filter((pid) => !aside.has(pid));
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended already.
  }
}
