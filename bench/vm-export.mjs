/**
 * What a cold create of a virtual machine costs in bytes and time, against a copy of the archive in between.
 *
 *   npm run build && npm run build:examples && node bench/vm-export.mjs [MEGABYTES] [ROUNDS]
 *
 * Real parts: a Docker engine of its own, an image FROM scratch with random data in it, sqfstar and QEMU. Needs root
 * and what scripts/install-test-packages.sh installs. Bytes are the kernel's own count (`write_bytes` in
 * /proc/PID/io) of this process with the packer that it started, and of the engine.
 */
import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createReadStream, openSync, fdatasyncSync, closeSync } from "node:fs";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { VmDriver } from "../examples/gateway-vm/dist/index.js";

const [megabytes = 1600, rounds = 2] = process.argv.slice(2).map(Number);
const root = join(import.meta.dirname, "..");
const engines = join(root, "scripts/engines");
const guestDir = join(root, ".slipway/vm-guest");
const dir = mkdtempSync(join(tmpdir(), "slipway-bench-"));
const engineDir = join(dir, "engine");
const signal = new AbortController().signal;
const IMAGE = "local-big:1";

const written = (pid) =>
  Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1] ?? Number.NaN);
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const mb = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;

/** Does something and says how long it took and what this process and the engine wrote meanwhile. */
async function measured(enginePid, work) {
  const before = { own: written("self"), engine: written(enginePid), at: performance.now() };
  const result = await work();
  const own = written("self") - before.own;
  return { ...result, own, engine: written(enginePid) - before.engine, ms: performance.now() - before.at };
}

/** The driver's way. What follows the image, disks and the machine, is not counted. */
async function onePass(socketPath, enginePid) {
  const dataDir = mkdtempSync(join(dir, "data-"));
  const driver = new VmDriver({ dataDir, guestDir, dockerSocket: socketPath, accelerator: "tcg" });
  const sandbox = { id: randomUUID(), name: "bench" };
  const seen = await measured(enginePid, async () => {
    const abort = new AbortController();
    const reports = [];
    const report = (progress) => {
      reports.push(progress);
      // After the image there is nothing left to measure.
      if (progress.step === "image" && progress.done) abort.abort(new Error("measured"));
    };
    const request = {
      sandbox,
      instance: { id: randomUUID(), attemptNumber: 1, run: 1 },
      image: { name: IMAGE },
      command: ["true"],
      options: {},
      access: { url: "http://127.0.0.1:9", token: "none" },
    };
    await driver.launch(request, { signal: abort.signal, report }).catch((error) => {
      if (error.message !== "measured") throw error;
    });
    return { reports };
  });
  const images = join(dataDir, "images");
  const [name] = readdirSync(images).filter((file) => file.endsWith(".sqfs"));
  const size = statSync(join(images, name)).size;
  await driver.remove(sandbox, { signal });
  rmSync(dataDir, { recursive: true });
  return { ...seen, size };
}

/** The way with a copy: the archive on the disk first, then packed. */
async function twoCopies(docker, enginePid) {
  const folder = mkdtempSync(join(dir, "copy-"));
  const tar = join(folder, "image.tar");
  const file = join(folder, "rootfs.sqfs");
  const seen = await measured(enginePid, async () => {
    const id = docker("create", IMAGE, "true").trim();
    docker("export", "--output", tar, id);
    docker("rm", id);
    const packer = spawn("sqfstar", ["-quiet", "-no-progress", "-comp", "lz4", file], {
      stdio: ["pipe", "ignore", "inherit"],
    });
    const closed = once(packer, "close");
    await pipeline(createReadStream(tar, { highWaterMark: 1 << 20 }), packer.stdin).catch(() => undefined);
    const [code] = await closed;
    if (code !== 0) throw new Error(`sqfstar ended with ${code}`);
    const handle = openSync(file, "r+");
    fdatasyncSync(handle);
    closeSync(handle);
    rmSync(tar);
    return {};
  });
  const size = statSync(file).size;
  rmSync(folder, { recursive: true });
  return { ...seen, size };
}

function show(name, { own, engine, size, ms }) {
  const ratio = ((own + engine) / size).toFixed(3);
  console.log(
    `${name}: ${seconds(ms)}, wrote ${mb(own)} (engine ${mb(engine)}) for ${mb(size)}: ${ratio} times`,
  );
}

try {
  execFileSync(join(engines, "vm-kernel.sh"), [guestDir], { stdio: "inherit" });
  execFileSync(join(engines, "docker.sh"), ["start", engineDir]);
  const socketPath = join(engineDir, "docker.sock");
  const host = `unix://${socketPath}`;
  const docker = (...words) => execFileSync("docker", ["-H", host, ...words], { encoding: "utf8" });
  const enginePid = readFileSync(join(engineDir, "docker.pid"), "utf8").trim();
  const command = `"$0" --pad "$1" | docker -H "unix://$2" import - ${IMAGE}`;
  const words = [command, join(engines, "sandbox-image.sh"), String(megabytes), socketPath];
  execFileSync("bash", ["-o", "pipefail", "-c", ...words], { stdio: ["ignore", "ignore", "inherit"] });
  const ratios = [];
  for (let round = 0; round < rounds; round += 1) {
    const one = await onePass(socketPath, enginePid);
    show("one pass  ", one);
    const two = await twoCopies(docker, enginePid);
    show("two copies", two);
    ratios.push(one.ms / two.ms);
    const positions = one.reports.filter(({ step }) => step === "image").map(({ position }) => position);
    console.log(`            first word: ${one.reports[0].subject}; ${positions.length} counts of bytes`);
    if ((one.own + one.engine) / one.size > 1.2) throw new Error("more than 1.2 times the root filesystem");
  }
  console.log(`wall time, one pass over two copies: ${ratios.map((ratio) => ratio.toFixed(2)).join(", ")}`);
} finally {
  execFileSync(join(engines, "docker.sh"), ["remove", engineDir]);
  rmSync(dir, { recursive: true, force: true });
}
