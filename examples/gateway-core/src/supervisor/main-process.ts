import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { setImmediate, setTimeout as delay } from "node:timers/promises";
import type { Policy } from "../policy/policy.js";
import { MemoryWatch } from "./memory-kills.js";
import { inherited } from "./settings.js";
import { WorkloadGroup } from "./workload-group.js";

export interface MainExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The kernel killed it for lack of memory. */
  readonly outOfMemory?: true;
}

/** How long what the main process started may take to end after it. */
const LEFTOVER_GRACE_MS = 500;

/** How much later than its child this process may hear of a signal that was sent to all of the group. */
const SAME_SIGNAL_MS = 250;

/** What a shell reports for a command that cannot be run. */
const CANNOT_RUN = 127;

/** What a process is said to have ended with that SIGTERM ended. */
export const TERMINATED = 128 + 15;

export interface MainProcessOptions {
  /** Variables that outrank the policy's own. */
  readonly enforced?: Readonly<Record<string, string>> | undefined;
  /** Whether the control group that this process sees is the sandbox's alone. */
  readonly ownsMemory?: boolean | undefined;
  /** The process that enforces the workload's policy: it outlasts the workload, and is neither asked nor waited for. */
  readonly spared?: (() => number | null) | undefined;
}

/** The main process of the sandbox. It is started once in the life of a supervisor. */
export class MainProcess {
  readonly exit: Promise<MainExit>;
  readonly #child: ChildProcess | null;
  readonly #started: Promise<boolean>;
  readonly #group: WorkloadGroup;
  #hasEnded: boolean;
  #isOver = false;
  #leftoverGraceMs = LEFTOVER_GRACE_MS;
  #asking: Promise<void> = Promise.resolve();
  #isAskedAnew = false;

  private constructor(child: ChildProcess | Error, memory: MemoryWatch | null, group: WorkloadGroup) {
    this.#group = group;
    this.#child = child instanceof Error ? null : child;
    // What could not be started has no other end than that, of which it is told a moment later.
    this.#hasEnded = child instanceof Error || child.pid === undefined;
    if (!(child instanceof Error)) child.once("exit", () => (this.#hasEnded = true));
    this.#started = child instanceof Error || this.#hasEnded ? Promise.resolve(false) : spawnOf(child);
    this.#isOver = this.#hasEnded;
    this.exit = child instanceof Error ? Promise.resolve(cannotRun(child)) : this.#exitOf(child, memory);
  }

  static start(
    command: readonly string[],
    policy: Policy,
    { enforced = {}, ownsMemory = false, spared }: MainProcessOptions = {},
  ): MainProcess {
    const [program = "", ...args] = command;
    // Before there is a process that can be killed.
    const memory = ownsMemory ? new MemoryWatch() : null;
    const group = new WorkloadGroup(spared);
    try {
      const child = spawn(program, args, {
        stdio: ["ignore", "inherit", "inherit"],
        env: { ...inherited(process.env), ...policy.env, ...enforced },
      });
      return new MainProcess(child, memory, group);
    } catch (error) {
      // A part of the faults is thrown at once: an argument list that is too long, an empty program.
      return new MainProcess(error as Error, memory, group);
    }
  }

  /** What it left behind may still be ending. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** It ended by itself, as far as can be told: whoever ends all of the group at once would have told this process too. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves once it runs, whenever that was; false when it could not be started. */
  started(): Promise<boolean> {
    return this.#started;
  }

  /** Asks it to end, and what it started, unless that was done before. */
  async ask(): Promise<void> {
    const pid = this.#child?.pid;
    // Of a supervisor that leads no group, only its own child is known to be the sandbox's.
    if (pid !== undefined && !this.#hasEnded) this.#group.askOne(pid);
    await this.#group.ask();
  }

  /**
   * Somebody ends the sandbox: grants the time for it, and ends what is left when that is over. So nothing is killed
   * here, also not what goes on when it has ended first, as a shell does.
   *
   * @param asksAll - Whether who ends the sandbox asked it, and what it started; else that is done here.
   */
  async leave(asksAll: boolean): Promise<void> {
    if (!this.#isOver) this.#leftoverGraceMs = Number.POSITIVE_INFINITY;
    const asked = asksAll ? this.#group.wasAsked() : this.ask();
    this.#asking = Promise.all([this.#asking, asked]).then(() => undefined);
    await this.#asking;
  }

  /** Asks also who was said to be asked: nobody was. Once, however often that turns out. */
  async askAnew(): Promise<void> {
    if (this.#isAskedAnew) return;
    this.#isAskedAnew = true;
    this.#group.nobodyWasAsked();
    await this.ask();
  }

  async #exitOf(child: ChildProcess, memory: MemoryWatch | null): Promise<MainExit> {
    try {
      const [exitCode, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
      // The engine knows it too, but only of a container as a whole, and later than this process tells it.
      const lacked = memory?.wasReasonOf({ exitCode, signal });
      if (signal === "SIGTERM" || (await this.#group.hasOthers())) await sameSignal();
      this.#isOver = true;
      // Nobody is asked twice: who was asked has to be known first.
      await this.#asking;
      // Nobody would end what it left running, once this supervisor is gone.
      await this.#group.end(this.#leftoverGraceMs);
      return { exitCode, signal, ...(lacked === true ? { outOfMemory: true as const } : undefined) };
    } catch (error) {
      return cannotRun(error as Error);
    }
  }
}

/** Lets a signal come in that the child had as well. A timer that is late is called before what came in meanwhile. */
async function sameSignal(): Promise<void> {
  await delay(SAME_SIGNAL_MS);
  await setImmediate();
}

async function spawnOf(child: ChildProcess): Promise<boolean> {
  return once(child, "spawn").then(
    () => true,
    () => false,
  );
}

function cannotRun(error: Error): MainExit {
  console.error(`The main process cannot be started: ${error.message}`);
  return { exitCode: CANNOT_RUN, signal: null };
}

/** The exit code with which a process reports that another one ended like this. */
export function exitCodeOf({ exitCode, signal }: MainExit): number {
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return exitCode ?? 128 + (numbers[signal ?? ""] ?? 0);
}
