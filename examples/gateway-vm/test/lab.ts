import type {
  DriverProgress,
  Json,
  LaunchRequest,
  SandboxRef,
  SandboxView,
} from "@slipway-examples/gateway-core";
import { HeldDoor } from "@slipway-examples/gateway-core/testing";
import Docker from "dockerode";
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, open, readdir, readFile, readlink, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { VmDriver, type VmDriverOptions } from "../src/index.js";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../..");
const ENGINES = join(ROOT, "scripts/engines");
/** More than any other answer of an engine, and less than an image with padding. */
const HELD_AT = 50_000_000;
const TOOLS = [
  "qemu-system-x86_64",
  "sqfstar",
  "unsquashfs",
  "mke2fs",
  "socat",
  "busybox",
  "dockerd",
  "apt-get",
  "curl",
];

/** Why no machine can be run here, `null` when one can. Tests that need one say it when they skip. */
export const whyNoLab = ((): string | null => {
  if (process.platform !== "linux" || process.arch !== "x64")
    return "QEMU's guests here are of Linux on x86-64";
  if (process.getuid?.() !== 0) return "a Docker engine of its own needs root";
  const path = `${process.env["PATH"] ?? ""}${delimiter}/usr/sbin${delimiter}/sbin`.split(delimiter);
  const missing = TOOLS.filter((tool) => !path.some((folder) => existsSync(join(folder, tool))));
  return missing.length === 0
    ? null
    : `not installed: ${missing.join(", ")} (scripts/install-test-packages.sh)`;
})();

/** A real Docker engine, a kernel for guests, and a directory for data; all of it is gone afterwards. */
export class Lab {
  readonly dir: string;
  readonly guestDir = join(ROOT, ".slipway/vm-guest");
  readonly docker: Docker;
  /** The way of gateways and drivers to the engine, where an export can be held in its middle. */
  #door: HeldDoor | null = null;

  private constructor(dir: string) {
    this.dir = dir;
    this.docker = new Docker({ socketPath: join(this.engineDir, "docker.sock") });
  }

  static async open({ docker = true } = {}): Promise<Lab> {
    const lab = new Lab(await realpath(await mkdtemp(join(tmpdir(), "slipway-vm-"))));
    await run(join(ENGINES, "vm-kernel.sh"), [lab.guestDir]);
    if (!docker) return lab;
    await lab.startEngine();
    lab.#door = await HeldDoor.open(join(lab.engineDir, "docker.sock"), lab.dockerSocket);
    return lab;
  }

  get engineDir(): string {
    return join(this.dir, "engine");
  }

  /** Where whatever is tested finds the engine. */
  get dockerSocket(): string {
    return join(this.dir, "engine.sock");
  }

  /** From now on an export stops in its middle, until it is let go: however fast or slow this machine is. */
  holdExports(): () => void {
    this.#door?.hold(HELD_AT);
    return () => this.#door?.letGo();
  }

  /** Lets the exports that are held go on for so many bytes. */
  passExports(bytes: number): void {
    this.#door?.pass(bytes);
  }

  driver(dataDir: string, options: Partial<VmDriverOptions> = {}): VmDriver {
    const { guestDir, dockerSocket } = this;
    return new VmDriver({ dataDir, guestDir, dockerSocket, accelerator: "tcg", ...options });
  }

  async dataDir(): Promise<string> {
    return mkdtemp(join(this.dir, "data-"));
  }

  /** Writes the sandbox image as a tar. */
  async imageTar(name: string, ...options: string[]): Promise<string> {
    const file = join(this.dir, name);
    const handle = await open(file, "w");
    try {
      const child = spawn(join(ENGINES, "sandbox-image.sh"), options, {
        stdio: ["ignore", handle.fd, "inherit"],
      });
      const [code] = (await once(child, "exit")) as [number | null];
      if (code !== 0) throw new Error(`sandbox-image.sh ended with ${String(code)}`);
    } finally {
      await handle.close();
    }
    return file;
  }

  /** @param changes - What the image is to say of its program, in words of a Dockerfile. */
  async importImage(tar: string, reference: string, ...changes: string[]): Promise<void> {
    const said = changes.flatMap((change) => ["--change", change]);
    await run("docker", [
      "-H",
      `unix://${join(this.engineDir, "docker.sock")}`,
      "import",
      ...said,
      tar,
      reference,
    ]);
  }

  /** Freezes the engine in the middle of whatever it does; the function returned lets it go on. */
  freezeEngine(): () => void {
    const pid = Number(readFileSync(join(this.engineDir, "docker.pid"), "utf8"));
    process.kill(pid, "SIGSTOP");
    return () => process.kill(pid, "SIGCONT");
  }

  async killEngine(): Promise<void> {
    await run(join(ENGINES, "docker.sh"), ["kill", this.engineDir]);
  }

  async startEngine(): Promise<void> {
    await run(join(ENGINES, "docker.sh"), ["start", this.engineDir]);
  }

  async containers(): Promise<readonly string[]> {
    return (await this.docker.listContainers({ all: true })).flatMap(({ Names }) => Names);
  }

  /** Every process that works below the lab's directory and is no part of the engine: QEMU and what it started. */
  async processes(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
      const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => "");
      const words = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
      const inside =
        cwd.startsWith(`${this.dir}/data-`) || words.some((word) => word.startsWith(`${this.dir}/data-`));
      if (inside && words[0] !== "") found.push(`${pid} ${words.slice(0, 3).join(" ")}`);
    }
    return found;
  }

  /** What is mounted below the data directories. */
  async mounts(): Promise<readonly string[]> {
    const lines = (await readFile("/proc/self/mountinfo", "utf8")).split("\n");
    return lines.map((line) => line.split(" ")[4] ?? "").filter((at) => at.startsWith(`${this.dir}/data-`));
  }

  /** Of the processes, the machines. */
  async machines(): Promise<readonly string[]> {
    return (await this.processes()).filter((line) => line.includes(" qemu-system-"));
  }

  async close(): Promise<void> {
    // What a test that failed has left.
    this.#door?.close();
    for (const line of await this.processes()) process.kill(Number.parseInt(line, 10), "SIGKILL");
    await run(join(ENGINES, "docker.sh"), ["remove", this.engineDir]);
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** The operations of a sandbox that are open, and by which way. */
export function openWays({ operations }: SandboxView): readonly string[] {
  return Object.entries(operations).flatMap(([name, gate]) =>
    gate.allowed ? [`${name}: ${gate.route}`] : [],
  );
}

/** Every file below a directory, by its path in it. */
export async function filesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

export interface Sent {
  readonly name?: string;
  readonly image: string | { readonly name: string; readonly path: string };
  readonly url: string;
  readonly command?: readonly string[];
  readonly run?: number;
  readonly sandbox?: SandboxRef;
  readonly options?: Record<string, Json>;
}

/** A launch request as a gateway makes them. */
export function requestOf(sent: Sent): LaunchRequest {
  const { image, command = ["sleep", "1000"], run: number = 1, url } = sent;
  const id = randomUUID();
  return {
    sandbox: sent.sandbox ?? { id, name: sent.name ?? `box-${id.slice(0, 4)}` },
    instance: { id: randomUUID(), attemptNumber: 1, run: number },
    image: typeof image === "string" ? { name: image } : image,
    command,
    options: { memoryMb: 384, ...sent.options },
    access: { url, token: `token-${id}` },
  };
}

/** A launch under way, and what it has reported so far. */
export class Launch {
  readonly reports: DriverProgress[] = [];
  readonly controller = new AbortController();
  readonly result: Promise<Json>;
  readonly request: LaunchRequest;

  constructor(
    driver: VmDriver,
    request: LaunchRequest,
    onReport?: (report: DriverProgress, launch: Launch) => void,
  ) {
    this.request = request;
    const report = (progress: DriverProgress): void => {
      this.reports.push(progress);
      onReport?.(progress, this);
    };
    this.result = driver.launch(request, { signal: this.controller.signal, report });
    this.result.catch(() => undefined);
  }

  step(step: string): readonly DriverProgress[] {
    return this.reports.filter((report) => report.step === step);
  }
}
