import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import type { Policy } from "../policy/policy.js";

export interface MainExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** What a shell reports for a command that cannot be run. */
const CANNOT_RUN = 127;

/** Variables that are the supervisor's own; the token above all is not the workload's business. */
const OWN = new Set([
  "SLIPWAY_TOKEN",
  "SLIPWAY_GATEWAY_URL",
  "SLIPWAY_RUN",
  "SLIPWAY_COMMAND",
  "SLIPWAY_NOTE",
]);

/** The main process of the sandbox. It is started once in the life of a supervisor. */
export class MainProcess {
  readonly exit: Promise<MainExit>;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.exit = exitOf(child);
  }

  static start(command: readonly string[], policy: Policy): MainProcess {
    const [program = "", ...args] = command;
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN.has(name)));
    const child = spawn(program, args, {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...env, ...policy.env },
    });
    return new MainProcess(child);
  }

  /** Resolves once it runs; an exit tells that it could not. */
  async started(): Promise<boolean> {
    if (this.#child.pid === undefined) return false;
    if (this.#child.exitCode === null) await once(this.#child, "spawn").catch(() => undefined);
    return true;
  }

  end(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

async function exitOf(child: ChildProcess): Promise<MainExit> {
  try {
    const [exitCode, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return { exitCode, signal };
  } catch (error) {
    console.error(`The main process cannot be started: ${(error as Error).message}`);
    return { exitCode: CANNOT_RUN, signal: null };
  }
}

/** The exit code with which a process reports that another one ended like this. */
export function exitCodeOf({ exitCode, signal }: MainExit): number {
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return exitCode ?? 128 + (numbers[signal ?? ""] ?? 0);
}
