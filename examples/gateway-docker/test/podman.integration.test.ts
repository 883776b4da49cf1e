import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectEngine, jsonLines } from "../src/engine.js";
import { findBusybox, packSandboxImage } from "../src/guest/sandbox-image.js";
import { clockAhead, DriverBench, TOKEN, until } from "./driver-bench.js";
import { STAND_IN, type TestEngine } from "./engine.js";

const whyNoPodman = ((): string | null => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "needs root on Linux";
  const missing = ["podman", "runc"].filter((name) => spawnSync(name, ["--version"]).error !== undefined);
  return missing.length === 0 ? null : `not installed: ${missing.join(", ")}`;
})();

/** Named with its host: short names Podman looks for elsewhere. */
const IMAGE = { name: "localhost/stand-in:1" };

/** Podman's service in a directory of its own, with what it takes on a machine with old control groups. */
class PodmanService {
  readonly #dir: string;
  readonly #child: ChildProcess;

  private constructor(dir: string, child: ChildProcess) {
    this.#dir = dir;
    this.#child = child;
  }

  static async start(): Promise<PodmanService> {
    const dir = await mkdtemp(join(tmpdir(), "slipway-podman-"));
    const conf = join(dir, "containers.conf");
    await writeFile(conf, '[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n');
    const places = ["--root", join(dir, "root"), "--runroot", join(dir, "run"), "--tmpdir", join(dir, "tmp")];
    const manner = ["--runtime", "runc", "--cgroup-manager=cgroupfs", "--events-backend=file"];
    const service = ["system", "service", "--time=0", `unix://${dir}/podman.sock`];
    const env = { ...process.env, CONTAINERS_CONF: conf };
    const child = spawn("podman", [...places, ...manner, "--storage-driver", "vfs", ...service], {
      env,
      stdio: "ignore",
    });
    const started = new PodmanService(dir, child);
    await until(() =>
      started.docker.ping().then(
        () => true,
        () => null,
      ),
    );
    return started;
  }

  get docker(): ReturnType<typeof connectEngine> {
    return connectEngine(`unix://${this.#dir}/podman.sock`);
  }

  /** Also after a test that failed half-way: what still runs would keep the directory busy. */
  async end(): Promise<void> {
    try {
      for (const { Id } of await this.docker.listContainers({ all: true })) {
        await this.docker.getContainer(Id).remove({ force: true });
      }
    } finally {
      this.#child.kill("SIGTERM");
      await once(this.#child, "exit");
    }
    for (const target of ["root/vfs-containers", "root/vfs", "root", "run"]) {
      spawnSync("umount", ["-l", join(this.#dir, target)]);
    }
    await rm(this.#dir, { recursive: true, force: true });
  }
}

describe.skipIf(whyNoPodman !== null)(
  `the driver over Podman's compatible API (${whyNoPodman ?? "podman"})`,
  { timeout: 240_000 },
  () => {
    let podman: PodmanService;

    beforeAll(async () => {
      podman = await PodmanService.start();
      const tar = packSandboxImage({
        busybox: await findBusybox(),
        files: { "/opt/slipway/start.mjs": STAND_IN },
      });
      const answer = podman.docker.importImage(tar, {
        repo: IMAGE.name,
        changes: ["ENV PATH=/usr/local/bin:/bin"],
      });
      for await (const message of jsonLines(await answer)) expect(message["error"]).toBeUndefined();
    });
    afterAll(() => podman.end());

    it("starts, shows, stops and removes as with Docker", async () => {
      const engine = { docker: podman.docker, dir: "" } as unknown as TestEngine;
      // Its init is a package of its own. A first process without one does not hear that it is to end: it gets the
      // shortest grace there is, and is killed.
      const clock = clockAhead(60_000);
      const at = new DriverBench(engine, { init: false, stopGraceMs: 1000, clock });
      const startedAt = clock.now();
      const run = { instanceId: "instance-1", desired: "running" } as const;
      const handle = await at.launch(at.request(1, ["sh", "-c", "exit 3"], { image: IMAGE }));
      const ended = await at.until(({ completed }) => completed === true, run);
      expect(ended).toMatchObject({
        exitCode: 3,
        failureReason: "ProcessExited",
        instanceId: "instance-1",
      });
      expect(ended.finishedAt).toBeGreaterThan(startedAt - 30_000);
      const second = await at.launch(at.request(2, ["sleep", "1000"], { image: IMAGE }));
      expect(second).not.toBe(handle);
      const next = { ...run, instanceId: "instance-2" };
      expect(await at.observe(next, second)).toMatchObject({
        running: true,
        readiness: "none",
        stale: false,
      });
      expect(JSON.stringify(await podman.docker.getContainer(second).inspect())).not.toContain(TOKEN);
      expect((await at.driver.list(null, at)).items).toMatchObject([
        { id: at.sandbox.id, observation: { running: true } },
      ]);
      // Its word for an end is not Docker's, nor is the one for a removal: both are heard of.
      const controller = new AbortController();
      const news = at.driver.watch(controller);
      const told = { done: false, value: { type: "changed", id: at.sandbox.id } };
      expect(await news.next()).toEqual(told);
      const ending = news.next();
      await podman.docker.getContainer(second).kill();
      expect(await ending).toEqual(told);
      expect(await at.until(({ completed }) => completed === true, next)).toMatchObject({
        exitCode: 137,
        failureReason: "Killed",
      });
      const going = news.next();
      await podman.docker.getContainer(second).remove();
      expect(await going).toEqual(told);
      controller.abort();
      await news.return(undefined);

      // It does not stop what is paused; what is asked to end goes on first.
      const third = await at.launch(at.request(3, ["sleep", "1000"], { image: IMAGE }));
      const last = { ...run, instanceId: "instance-3" };
      await podman.docker.getContainer(third).pause();
      expect(await at.observe(last, third)).toMatchObject({ running: false, suspended: true });
      await at.driver.stop(at.sandbox, at);
      await at.driver.stop(at.sandbox, at);
      expect(await at.observe({ ...last, desired: "stopped" }, third)).toMatchObject({
        completed: true,
        failureReason: null,
      });
      await at.driver.remove(at.sandbox, at);
      expect(await at.observe(last, null)).toMatchObject({ exists: false });
      expect(await podman.docker.listContainers({ all: true })).toEqual([]);
    });
  },
);
