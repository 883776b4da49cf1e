import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { openSync, closeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface GatewayProcessOptions {
  readonly dataDir: string;
  /** Further arguments of `serve`. */
  readonly args: readonly string[];
  /** The program, when it is not the one beside this file. */
  readonly cli?: string | undefined;
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** A gateway as a process of its own: started, killed and started again from outside. */
export class GatewayProcess {
  readonly #options: GatewayProcessOptions;
  #child: ChildProcess | null = null;

  constructor(options: GatewayProcessOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts it and waits until it serves requests; its address. */
  async start(): Promise<string> {
    const child = this.launch();
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`The gateway ended with exit code ${String(code)}; its log is ${this.logPath}`);
    });
    ended.catch(() => undefined);
    const [line] = (await Promise.race([once(lines, "line"), ended])) as [string];
    return (JSON.parse(line) as { url: string }).url;
  }

  /** Starts it and does not wait for anything. */
  launch(): ChildProcess {
    const { dataDir, args, env } = this.#options;
    const cli = this.#options.cli ?? fileURLToPath(new URL("../cli.js", import.meta.url));
    const log = openSync(this.logPath, "a");
    try {
      const command = [cli, "--json", "serve", "--data", join(dataDir, "data"), ...args];
      this.#child = spawn(process.execPath, command, {
        stdio: ["ignore", "pipe", log],
        env: { ...process.env, ...env },
      });
      return this.#child;
    } finally {
      closeSync(log);
    }
  }

  get logPath(): string {
    return join(this.#options.dataDir, "gateway.log");
  }

  /** Ends it and waits until it is gone; how it ended. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<number | NodeJS.Signals | null> {
    const child = this.#child;
    this.#child = null;
    if (child === null) return null;
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? child.signalCode;
    const gone = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
    child.kill(signal);
    const [code, killedBy] = await gone;
    return code ?? killedBy;
  }
}
