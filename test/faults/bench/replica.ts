import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { TcpProxy } from "../../../examples/gateway-core/src/testing/tcp-proxy.js";

/** What is kept of the last words of one that ended, characters. */
const MOST_WORDS = 3000;

export interface ReplicaOptions {
  readonly program: string;
  readonly index: number;
  readonly port: number;
  /** Arguments of `serve` that all replicas have. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** A folder for its log and its clock. */
  readonly dir: string;
  readonly databasePort: number;
  readonly database: string;
  /** The library that fakes a process's clock, `null` where there is none. */
  readonly fakeTime: string | null;
}

/** One gateway process with a database connection of its own, that can be broken, and a clock of its own. */
export class Replica {
  readonly port: number;
  readonly database: TcpProxy;
  readonly #options: ReplicaOptions;
  #child: ChildProcess | null = null;
  /** It is to run; a process that ends by itself is started again, as a service manager does. */
  #wanted = false;
  readonly #crashes: string[] = [];

  private constructor(options: ReplicaOptions, database: TcpProxy) {
    this.#options = options;
    this.port = options.port;
    this.database = database;
  }

  static async start(options: ReplicaOptions): Promise<Replica> {
    const replica = new Replica(options, await TcpProxy.start([options.databasePort]));
    await replica.setClock(0);
    replica.up();
    return replica;
  }

  /** What it wrote last, each time that it ended though nobody had killed it. */
  get crashes(): readonly string[] {
    return this.#crashes;
  }

  up(): void {
    this.#wanted = true;
    if (this.#child === null) this.#spawn();
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async close(): Promise<void> {
    await this.#end("SIGKILL");
    await this.database.close();
  }

  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  proceed(): void {
    this.#child?.kill("SIGCONT");
  }

  /** Sets its wall clock apart from the true one; elapsed time stays what it is. */
  async setClock(offsetMs: number): Promise<void> {
    const sign = offsetMs < 0 ? "-" : "+";
    await writeFile(this.#clockFile, `${sign}${(Math.abs(offsetMs) / 1000).toFixed(3)}\n`);
  }

  get logPath(): string {
    return join(this.#options.dir, `replica-${this.#options.index}.log`);
  }

  get #clockFile(): string {
    return join(this.#options.dir, `clock-${this.#options.index}`);
  }

  #spawn(): void {
    const { program, args, port, database, env, fakeTime } = this.#options;
    const url = `postgres://postgres@127.0.0.1:${this.database.port}/${database}`;
    const command = [program, "--json", "serve", "--port", String(port), "--database-url", url, ...args];
    const faked = {
      LD_PRELOAD: fakeTime ?? "",
      FAKETIME_TIMESTAMP_FILE: this.#clockFile,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      FAKETIME_DISABLE_SHM: "1",
    };
    const log = openSync(this.logPath, "a");
    const child = spawn(process.execPath, command, {
      stdio: ["ignore", "ignore", log],
      env: { PATH: process.env["PATH"] ?? "", ...env, ...(fakeTime === null ? {} : faked) },
    });
    closeSync(log);
    this.#child = child;
    child.once("exit", () => {
      void forgetSharedClock(child.pid ?? 0);
      if (this.#child !== child) return;
      this.#child = null;
      if (!this.#wanted) return;
      void this.#lastWords().then((words) => this.#crashes.push(words));
      void delay(300).then(() => {
        if (this.#wanted) this.up();
      });
    });
  }

  /** All that was written after the last line of the log, as Node prints an uncaught exception; else that line. */
  async #lastWords(): Promise<string> {
    const lines = (await readFile(this.logPath, "utf8").catch(() => "")).trimEnd().split("\n");
    const logged = lines.findLastIndex((line) => line.startsWith("{"));
    const words = logged === lines.length - 1 ? lines.slice(-1) : lines.slice(logged + 1);
    return words.join("\n").slice(0, MOST_WORDS);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#wanted = false;
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
    await forgetSharedClock(child.pid ?? 0);
  }
}

/** What libfaketime leaves in shared memory when its process is killed. */
async function forgetSharedClock(pid: number): Promise<void> {
  const names = await readdir("/dev/shm").catch(() => []);
  const own = names.filter((name) => name.includes("faketime") && name.endsWith(`_${pid}`));
  await Promise.all(own.map((name) => rm(join("/dev/shm", name), { force: true })));
}
