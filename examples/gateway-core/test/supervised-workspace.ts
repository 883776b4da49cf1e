import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { groupMembers } from "../src/driver/process-identity.js";
import { eventually } from "../src/testing/eventually.js";
import { ScriptedGateway } from "./scripted-gateway.js";
import { Supervised, type SupervisedOptions } from "./supervised.js";
import { tempDir } from "./temp-dir.js";

/** Adds a mark for each start, and stays. */
const WORK = [
  process.execPath,
  "-e",
  `const fs = require("fs");
   fs.appendFileSync("runs", "x");
   fs.writeFileSync("env.new", JSON.stringify(process.env));
   fs.renameSync("env.new", "env");
   setInterval(() => {}, 1000)`,
];

/** A policy that needs enforcement. */
export const NETWORK = { version: 1, network: { allow: ["allowed.example:443"] } };

/** A folder that supervisors work in, with the gateway that they are told of. */
export class SupervisedWorkspace {
  readonly gateway = new ScriptedGateway();
  readonly #dir: string;
  readonly #started: Supervised[] = [];

  private constructor(dir: string) {
    this.#dir = dir;
  }

  static async open(): Promise<SupervisedWorkspace> {
    const dir = await tempDir();
    await writeFile(join(dir, "sentinel"), "kept");
    return new SupervisedWorkspace(dir);
  }

  async close(): Promise<void> {
    await Promise.all(this.#started.splice(0).map((supervised) => supervised.end()));
    await this.gateway.close();
  }

  start(options: Partial<SupervisedOptions> = {}): Supervised {
    const { url } = this.gateway;
    const supervised = new Supervised({ url, workspace: this.#dir, command: WORK, ...options });
    this.#started.push(supervised);
    return supervised;
  }

  async read(name: string): Promise<string> {
    return readFile(join(this.#dir, name), "utf8").catch(() => "");
  }

  /** The ready report came, and the workload got so far as to write. */
  async isReady(): Promise<void> {
    const seen = async (): Promise<boolean> =>
      this.gateway.kinds("ready").length > 0 && (await this.read("env")) !== "";
    await eventually("the ready report", seen);
  }
}

/** Process ids of the sidecars of a supervisor. */
export async function sidecars(supervised: Supervised): Promise<readonly number[]> {
  const members = await groupMembers(supervised.pid);
  const lines = await Promise.all(
    members.map(
      async (pid) => [pid, await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")] as const,
    ),
  );
  return lines.filter(([, line]) => line.includes("\0enforcement\0")).map(([pid]) => pid);
}
