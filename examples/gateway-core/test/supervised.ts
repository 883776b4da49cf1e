import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { eventually } from "../src/testing/eventually.js";

const PROGRAM = fileURLToPath(new URL("../dist/supervisor.js", import.meta.url));

export interface SupervisedOptions {
  readonly url: string;
  readonly workspace: string;
  readonly command: readonly string[];
  readonly token?: string | undefined;
  readonly sandbox?: string | undefined;
  readonly run?: number | undefined;
  readonly budgetMs?: number | undefined;
  readonly program?: string | undefined;
  readonly askedAlone?: boolean;
}

/** A real supervisor, started by the test as a driver would: the leader of a group of its own. */
export class Supervised {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown[]>;
  #text = "";

  constructor(options: SupervisedOptions) {
    const { url, workspace, command, token = "secret", sandbox = "sb-1", run = 1, budgetMs } = options;
    this.#child = spawn(process.execPath, [options.program ?? PROGRAM], {
      cwd: workspace,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"] ?? "",
        SLIPWAY_GATEWAY_URL: url,
        SLIPWAY_TOKEN: token,
        SLIPWAY_SANDBOX: sandbox,
        SLIPWAY_RUN: String(run),
        SLIPWAY_COMMAND: JSON.stringify(command),
        ...(budgetMs === undefined ? undefined : { SLIPWAY_BUDGET_MS: String(budgetMs) }),
        ...(options.askedAlone === true ? { SLIPWAY_ASKED_ALONE: "1" } : undefined),
      },
    });
    this.#exit = once(this.#child, "exit");
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on("data", (data: Buffer) => (this.#text += data.toString()));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** What it and its children wrote. */
  get text(): string {
    return this.#text;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async exitCode(): Promise<number | null> {
    const [code] = (await this.#exit) as [number | null];
    return code;
  }

  async says(what: RegExp): Promise<void> {
    await eventually(`${String(what)} in its log`, () => Promise.resolve(what.test(this.#text))).catch(
      (error: unknown) => {
        throw new Error(`the log is:\n${this.#text}`, { cause: error });
      },
    );
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** What a driver of processes does: everybody in the group has the signal at once. */
  signalGroup(name: NodeJS.Signals): void {
    process.kill(-this.pid, name);
  }

  /** Ends it with everything that it started. */
  async end(): Promise<void> {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // All of it has ended.
    }
    await this.#exit;
  }
}
