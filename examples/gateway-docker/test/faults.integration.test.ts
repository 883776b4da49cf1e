import type { SandboxView } from "@slipway-examples/gateway-core";
import {
  HeldDoor,
  StartedGateway,
  TempDirs,
  eventually,
  type StartedGatewayOptions,
} from "@slipway-examples/gateway-core/testing";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { dockerDrivers } from "../src/docker-drivers.js";
import { findBusybox, packSandboxImage } from "../src/guest/sandbox-image.js";
import { open } from "./driver-bench.js";
import { TestEngine, whyNoEngine } from "./engine.js";

const IMAGE = "slipway-sandbox:latest";
const LIMIT_MS = 120_000;

describe.skipIf(whyNoEngine !== null)(
  `faults under a gateway over a real engine (${whyNoEngine ?? "dockerd"})`,
  { timeout: 2 * LIMIT_MS },
  () => {
    const temp = new TempDirs();
    let engine: TestEngine;
    let gateway: StartedGateway;

    const opened = async (
      { dir }: Pick<TestEngine, "dir"> = engine,
      more: Partial<StartedGatewayOptions> = {},
    ): Promise<StartedGateway> => {
      const drivers = dockerDrivers({ dockerHost: `unix://${dir}/docker.sock`, stopGraceMs: 30_000 });
      return (gateway = await StartedGateway.start({ drivers, dataDir: await temp.make(), ...more }));
    };
    const archive = async (fillerBytes: number): Promise<string> => {
      const path = join(await temp.make(), "rootfs.tar");
      const parts = { busybox: await findBusybox(), fillerBytes };
      await pipeline(packSandboxImage(parts), createWriteStream(path));
      return path;
    };
    const until = (id: string, seen: (view: SandboxView) => boolean): Promise<SandboxView> =>
      gateway.until(id, seen, LIMIT_MS);
    const settled = ({ phase }: SandboxView): boolean => phase === "Ready" || phase === "Error";

    beforeAll(async () => {
      engine = await TestEngine.start();
      await engine.importImage(IMAGE);
      await engine.importImage("bare:1", { supervisor: false });
    }, LIMIT_MS);
    afterEach(async () => {
      await gateway.removeAll(LIMIT_MS);
      expect(await engine.remains()).toEqual({ containers: [], volumes: [], dangling: 0 });
      await gateway.close();
    });
    afterAll(async () => {
      await engine.remove();
      await temp.remove();
    });

    it("a container that is killed is an error that a start mends, in the same workspace", async () => {
      const { client } = await opened();
      const command = ["sh", "-c", "echo run >> /workspace/runs; sleep 1000"];
      const { id } = await client.create({ name: "killed", image: { name: IMAGE }, command });
      await until(id, settled);
      const first = (await engine.docker.listContainers())[0]!.Id;
      await engine.docker.getContainer(first).kill();
      const killed = await until(id, ({ phase }) => phase !== "Ready");
      expect(killed).toMatchObject({ phase: "Error", reason: "Killed", exitCode: 137, attempt: 1 });
      expect(open(killed)).toEqual(["start: restart", "stop: noop", "delete: delete"]);
      await client.start(id);
      const again = await until(id, (view) => view.attempt === 2 && settled(view));
      expect(again).toMatchObject({ phase: "Ready", exitCode: null });
      const [second] = await engine.docker.listContainers({ all: true });
      expect(second!.Id).not.toBe(first);
      await eventually(
        "the second run's line",
        async () => (await engine.exec(second!.Id, "cat", "/workspace/runs")) === "run\nrun",
      );
    });

    it.each([
      [
        "that nobody has",
        { image: { name: "nobody/has-it:1" }, driverOptions: { pull: "never" } },
        "ImagePullFailed",
      ],
      ["without the supervisor", { image: { name: "bare:1" } }, "DockerSupervisorMissing"],
    ])("an image %s is an error at once, with every way out", async (_, more, reason) => {
      const { client } = await opened();
      const { id } = await client.create({ name: "wrong", command: ["true"], ...more });
      await until(id, settled);
      const clean = await until(id, ({ deadline }) => deadline?.cleanup.status === "done");
      expect(clean).toMatchObject({ phase: "Error", reason });
      expect(clean.message).toContain(more.image.name);
      expect(open(clean)).toEqual(["start: restart", "stop: stop", "delete: delete"]);
      expect((await engine.remains()).containers).toEqual([]);
    });

    it("two creates of one archive at once import it once", async () => {
      const path = await archive(150_000_000);
      // However fast an import is: it stands in its middle until the other one waits for it.
      const dir = await temp.make();
      const door = await HeldDoor.open(join(engine.dir, "docker.sock"), join(dir, "docker.sock"));
      door.hold(20_000_000);
      const { client } = await opened({ dir });
      const events = await engine.docker.getEvents({ filters: { event: ["import"] } });
      const imports: string[] = [];
      events.on("data", (chunk: Buffer) => imports.push(String(chunk)));
      const image = { name: "local:1", path };
      const command = ["sleep", "1000"];
      const { id: first } = await client.create({ name: "first", image, command });
      await until(first, ({ steps }) => (steps[0]?.position ?? 0) >= 20_000_000);
      const { id: second } = await client.create({ name: "second", image, command });
      const waiting = await until(second, ({ deadline }) => deadline?.pausedAt !== null);
      expect(waiting).toMatchObject({ phase: "Provisioning", reason: "Preparation" });
      expect(open(waiting)).toEqual(["stop: stop", "delete: delete"]);
      expect(waiting.steps.filter(({ status }) => status === "running")).toMatchObject([
        { step: "image-wait", activeLabel: "Importing image from archive for another sandbox" },
      ]);
      door.letGo();
      const ready = await Promise.all([first, second].map((id) => until(id, settled)));
      (events as unknown as { destroy: () => void }).destroy();
      expect(imports).toHaveLength(1);
      for (const view of ready) {
        expect(view).toMatchObject({ phase: "Ready", reason: "DependenciesReady", attempt: 1 });
        expect(view.steps[0]).toMatchObject({ subject: "local:1" });
        expect(view.steps).toContainEqual(expect.objectContaining({ step: "image", subject: "local:1" }));
        expect(open(view)).toEqual(["start: noop", "stop: stop", "delete: delete"]);
      }
      expect((await engine.remains()).containers).toHaveLength(2);
      await gateway.removeAll(LIMIT_MS);
      door.close();
    });

    it("an engine that is killed in the middle of an import: it is imported again, in the same deadline", async () => {
      const path = await archive(100_000_000);
      const dir = await temp.make();
      const door = await HeldDoor.open(join(engine.dir, "docker.sock"), join(dir, "docker.sock"));
      door.hold(20_000_000);
      const { client } = await opened({ dir });
      const image = { name: "big:1", path };
      const { id, deadline } = await client.create({ name: "again", image, command: ["sleep", "1000"] });
      await until(id, ({ steps }) => (steps[0]?.position ?? 0) >= 20_000_000);
      await engine.kill();
      door.letGo();
      // The launch has failed and is due again: what there was of the engine said why.
      const waiting = await until(id, ({ message }) => /socket|ECONN|connect|hang up|EPIPE/.test(message));
      expect(waiting).toMatchObject({ phase: "Provisioning", reason: "Preparation", attempt: 1 });
      expect(open(waiting)).toEqual(["stop: stop", "delete: delete"]);
      await engine.start();
      const ready = await until(id, settled);
      expect(ready).toMatchObject({ phase: "Ready", reason: "DependenciesReady", attempt: 1 });
      expect(ready.run).toBeGreaterThan(1);
      expect(ready.deadline?.startedAt).toBe(deadline?.startedAt);
      expect(open(ready)).toEqual(["start: noop", "stop: stop", "delete: delete"]);
      // What an engine that was killed had half written is in its own store, where no request reaches it.
      expect(await engine.remains()).toMatchObject({ containers: [expect.any(String)], dangling: 0 });
      await gateway.removeAll(LIMIT_MS);
      door.close();
    });

    it("a delete in the middle of an import ends it, and the engine keeps nothing of it", async () => {
      const path = await archive(600_000_000);
      const images = async (): Promise<string[]> =>
        (await engine.docker.listImages()).map(({ Id }) => Id).sort();
      const [before, stagedBefore] = [await images(), await engine.staging()];
      // However fast the import is: it stands in its middle until it was deleted.
      const dir = await temp.make();
      const door = await HeldDoor.open(join(engine.dir, "docker.sock"), join(dir, "docker.sock"));
      door.hold(20_000_000);
      const { client } = await opened({ dir });
      const { id } = await client.create({
        name: "given-up",
        image: { name: "big:1", path },
        command: ["true"],
      });
      const moving = await until(id, ({ steps }) => (steps[0]?.position ?? 0) >= 20_000_000);
      expect(moving.steps[0]).toMatchObject({ step: "image", subject: "big:1", finishedAt: null });
      expect(open(moving)).toEqual(["stop: stop", "delete: delete"]);
      await gateway.removeAll(LIMIT_MS);
      door.close();
      await eventually("nothing staged", async () => {
        const staged = await engine.staging();
        return staged.every((name) => stagedBefore.includes(name));
      });
      expect(await images()).toEqual(before);
    });

    it("a full disk is tried again, says so, and leaves nothing on it", async () => {
      const small = await TestEngine.onSmallDisk(150);
      try {
        const path = await archive(200_000_000);
        const { client } = await opened(small);
        const image = { name: "big:1", path };
        const { id } = await client.create({ name: "full", image, command: ["true"] });
        const full = await until(
          id,
          ({ message, phase }) => /no space left/.test(message) || phase === "Error",
        );
        expect(full).toMatchObject({ phase: "Provisioning", reason: "Preparation", attempt: 1 });
        expect(full.deadline).toMatchObject({ status: "active", phase: "preparation" });
        expect(open(full)).toEqual(["stop: stop", "delete: delete"]);
      } finally {
        await gateway.removeAll(LIMIT_MS);
        const left = await small.remains();
        await small.remove();
        expect(left).toEqual({ containers: [], volumes: [], dangling: 0 });
      }
    });

    it("a lack of memory that the supervisor outlives is told as one, and not as somebody's kill", async () => {
      const { client } = await opened();
      const command = ["node", "-e", "const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1))"];
      const driverOptions = { memoryBytes: 150_000_000 };
      const { id } = await client.create({ name: "hog", image: { name: IMAGE }, command, driverOptions });
      const ended = await until(id, ({ phase }) => phase === "Error");
      expect(ended).toMatchObject({ reason: "OutOfMemory", exitSignal: "SIGKILL", attempt: 1 });
      // Whether the engine knows of it as well is left to chance: its runtime may lose the message (containerd #8893).
    });
  },
);
