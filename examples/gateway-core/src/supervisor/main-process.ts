import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { groupMembers } from "../driver/process-identity.js";
import type { Policy } from "../policy/policy.js";
import { MemoryWatch } from "./memory-kills.js";
import { inherited } from "./settings.js";

export interface MainExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The kernel killed it for lack of memory. */
  readonly outOfMemory?: true;
}

/** How long what the main process started may take to end after it. */
const LEFTOVER_GRACE_MS = 500;
const POLL_MS = 50;

/** What a shell reports for a command that cannot be run. */
const CANNOT_RUN = 127;

/** The main process of the sandbox. It is started once in the life of a supervisor. */
export class MainProcess {
  readonly exit: Promise<MainExit>;
  readonly #child: ChildProcess | null;
  readonly #started: Promise<boolean>;
  #hasEnded = false;

  private constructor(child: ChildProcess | Error, memory: MemoryWatch | null) {
    this.#child = child instanceof Error ? null : child;
    if (!(child instanceof Error)) child.once("exit", () => (this.#hasEnded = true));
    this.#started =
      child instanceof Error || child.pid === undefined ? Promise.resolve(false) : spawnOf(child);
    this.exit = child instanceof Error ? Promise.resolve(cannotRun(child)) : exitOf(child, memory);
  }

  /**
   * @param enforced - Variables that outrank the policy's own.
   * @param ownsMemory - Whether the control group that this process sees is the sandbox's alone.
   */
  static start(
    command: readonly string[],
    policy: Policy,
    enforced: Readonly<Record<string, string>> = {},
    ownsMemory = false,
  ): MainProcess {
    const [program = "", ...args] = command;
    // Begun before there is a process that can be killed.
    const memory = ownsMemory ? new MemoryWatch() : null;
    try {
      const child = spawn(program, args, {
        stdio: ["ignore", "inherit", "inherit"],
        env: { ...inherited(process.env), ...policy.env, ...enforced },
      });
      return new MainProcess(child, memory);
    } catch (error) {
      // A part of the faults is thrown at once: an argument list that is too long, an empty program.
      return new MainProcess(error as Error, memory);
    }
  }

  /** What it left behind may still be ending. */
  get hasEnded(): boolean {
    return this.#hasEnded || this.#child === null;
  }

  /** Resolves once it runs, whenever that was; false when it could not be started. */
  started(): Promise<boolean> {
    return this.#started;
  }

  end(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }
}

async function spawnOf(child: ChildProcess): Promise<boolean> {
  return once(child, "spawn").then(
    () => true,
    () => false,
  );
}

async function exitOf(child: ChildProcess, memory: MemoryWatch | null): Promise<MainExit> {
  try {
    const [exitCode, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    // The engine knows it too, but only of a container as a whole, and later than this process tells it.
    const lacked = await memory?.wasReasonOf({ exitCode, signal });
    await endLeftovers();
    return { exitCode, signal, ...(lacked === true ? { outOfMemory: true as const } : undefined) };
  } catch (error) {
    return cannotRun(error as Error);
  }
}

function cannotRun(error: Error): MainExit {
  console.error(`The main process cannot be started: ${error.message}`);
  return { exitCode: CANNOT_RUN, signal: null };
}

/**
 * Ends what the main process left running, which nobody would end once this supervisor is gone. It is found in the
 * group that this process leads; what left the group is found by the driver, where the system lets it.
 */
async function endLeftovers(): Promise<void> {
  const killAt = Date.now() + LEFTOVER_GRACE_MS;
  const asked = new Set<number>();
  for (;;) {
    const members = await groupMembers(process.pid).catch((): number[] => []);
    const others = members.filter((pid) => pid !== process.pid);
    // Started by hand, and not as the leader of a group: then nothing in it is ours to end.
    if (others.length === 0 || !members.includes(process.pid)) return;
    const late = Date.now() >= killAt;
    for (const pid of others) {
      if (late || !asked.has(pid)) send(pid, late ? "SIGKILL" : "SIGTERM");
      asked.add(pid);
    }
    await delay(POLL_MS);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
    process.kill(pid, "SIGCONT");
  } catch {
    // It has ended already.
  }
}

/** The exit code with which a process reports that another one ended like this. */
export function exitCodeOf({ exitCode, signal }: MainExit): number {
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return exitCode ?? 128 + (numbers[signal ?? ""] ?? 0);
}
