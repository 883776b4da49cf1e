import type Docker from "dockerode";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { connectEngine, failureIn, jsonLines } from "../src/engine.js";
import { findBusybox, packSandboxImage, type SandboxImageParts } from "../src/guest/sandbox-image.js";

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, "../../../scripts/engines/docker.sh");

/** Why no engine can be started here, `null` when one can. Tests that need one say it when they skip. */
export const whyNoEngine = ((): string | null => {
  if (process.platform !== "linux") return "a Docker engine of its own needs Linux";
  if (process.getuid?.() !== 0) return "starting dockerd needs root";
  const inPath = (name: string): boolean =>
    (process.env["PATH"] ?? "").split(delimiter).some((path) => existsSync(join(path, name)));
  const missing = ["dockerd", "busybox", "curl"].filter((name) => !inPath(name));
  return missing.length === 0
    ? null
    : `not installed: ${missing.join(", ")} (scripts/install-test-packages.sh)`;
})();

/** A real engine in a directory of its own, and what can happen to it. */
export class TestEngine {
  readonly dir: string;
  readonly docker: Docker;

  private constructor(dir: string) {
    this.dir = dir;
    this.docker = connectEngine(`unix://${dir}/docker.sock`);
  }

  /** @param prepare - Done in the engine's directory before it starts. */
  static async start(
    options: readonly string[] = [],
    prepare: (dir: string) => Promise<void> = () => Promise.resolve(),
  ): Promise<TestEngine> {
    const dir = await mkdtemp(join(tmpdir(), "slipway-engine-"));
    await prepare(dir);
    const engine = new TestEngine(dir);
    await engine.start(options);
    return engine;
  }

  /** An engine whose data lie on a disk of their own, which is full at once. Whoever started it unmounts `data`. */
  static onSmallDisk(megabytes: number): Promise<TestEngine> {
    return TestEngine.start([], async (dir) => {
      const disk = join(dir, "disk");
      await run("truncate", ["-s", `${megabytes}M`, disk]);
      await run("mkfs.ext4", ["-q", disk]);
      await mkdir(join(dir, "data"));
      await run("mount", ["-o", "loop", disk, join(dir, "data")]);
    });
  }

  async start(options: readonly string[] = []): Promise<void> {
    await run(SCRIPT, ["start", this.dir, ...options]);
  }

  async kill(): Promise<void> {
    await run(SCRIPT, ["kill", this.dir]);
  }

  async stop(): Promise<void> {
    await run(SCRIPT, ["stop", this.dir]);
  }

  async remove(): Promise<void> {
    await run(SCRIPT, ["remove", this.dir]);
  }

  /** Freezes the engine in the middle of whatever it does; the function returned lets it go on. */
  freeze(): () => void {
    const pid = Number(readFileSync(join(this.dir, "docker.pid"), "utf8"));
    process.kill(pid, "SIGSTOP");
    return () => process.kill(pid, "SIGCONT");
  }

  /** Imports an image that sandboxes can run in, or not, depending on its parts. */
  async importImage(
    reference: string,
    parts: Partial<SandboxImageParts> = {},
    changes: string[] = [],
  ): Promise<void> {
    const [repo, tag] = reference.split(":");
    const tar = packSandboxImage({ busybox: await findBusybox(), ...parts });
    const all = ["ENV PATH=/usr/local/bin:/bin", ...changes];
    const answer = this.docker.importImage(tar, {
      repo,
      tag,
      changes: all,
    });
    for await (const message of jsonLines(await answer)) {
      const failure = failureIn(message);
      if (failure !== null) throw new Error(failure);
    }
  }

  /** Everything that a driver may have left: containers, volumes, and images without a name. */
  async remains(): Promise<{ containers: string[]; volumes: string[]; dangling: number }> {
    const containers = await this.docker.listContainers({ all: true });
    const { Volumes } = await this.docker.listVolumes();
    const images = await this.docker.listImages({ filters: { dangling: ["true"] } });
    return {
      containers: containers.map(({ Names, State }) => `${Names[0] ?? ""} ${State}`),
      volumes: Volumes.map(({ Name }) => Name),
      dangling: images.length,
    };
  }

  /** Temporary data of layers that are being fetched, imported or unpacked. */
  async staging(): Promise<string[]> {
    const data = join(this.dir, "data");
    const places = [join(data, "tmp"), join(data, "image/overlay2/layerdb/tmp")];
    return (await Promise.all(places.map((place) => readdir(place).catch(() => [])))).flat();
  }

  /** Runs a program in a container and returns what it wrote. */
  async exec(container: string, ...command: string[]): Promise<string> {
    const exec = await this.docker.getContainer(container).exec({
      Cmd: command,
      AttachStdout: true,
      AttachStderr: true,
      Tty: true,
    });
    const stream = await exec.start({ Tty: true, hijack: false });
    let text = "";
    for await (const chunk of stream) text += String(chunk);
    return text.replaceAll("\r\n", "\n").trim();
  }
}

/**
 * Stands in for the supervisor where a test is about the engine and not about the gateway: it reads the token as the
 * real one does, starts the command at once, asks nobody, and ends as the command ends.
 */
export const STAND_IN = `
import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
const token = readFileSync(process.env.SLIPWAY_TOKEN_FILE, "utf8");
rmSync(process.env.SLIPWAY_TOKEN_FILE);
writeFileSync("/tmp/token-length", String(token.length));
const [program, ...args] = JSON.parse(process.env.SLIPWAY_COMMAND);
const child = spawn(program, args, { stdio: "inherit" });
process.on("SIGINT", () => child.kill("SIGTERM"));
child.on("exit", (code, signal) => process.exit(code ?? 128 + { SIGKILL: 9, SIGTERM: 15 }[signal]));
`;

/** The image with the stand-in, under a name of its own. */
export const STAND_IN_IMAGE = "stand-in:1";

export async function importStandIn(engine: TestEngine, changes: string[] = []): Promise<void> {
  await engine.importImage(STAND_IN_IMAGE, { files: { "/opt/slipway/start.mjs": STAND_IN } }, changes);
}
