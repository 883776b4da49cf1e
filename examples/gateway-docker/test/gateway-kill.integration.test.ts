import { GatewayClient, type SandboxView } from "@slipway-examples/gateway-core";
import { GatewayProcess, HeldDoor, TempDirs, eventually } from "@slipway-examples/gateway-core/testing";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBusybox, packSandboxImage } from "../src/guest/sandbox-image.js";
import { open } from "./driver-bench.js";
import { TestEngine, whyNoEngine } from "./engine.js";

const IMAGE = "slipway-sandbox:latest";
const LIMIT_MS = 120_000;

describe.skipIf(whyNoEngine !== null)(
  `a gateway that is killed (${whyNoEngine ?? "dockerd"})`,
  { timeout: 2 * LIMIT_MS },
  () => {
    const temp = new TempDirs();
    let engine: TestEngine;
    let door: HeldDoor;
    let gateway: GatewayProcess;
    let client: GatewayClient;

    beforeAll(async () => {
      engine = await TestEngine.start();
      await engine.importImage(IMAGE);
      door = await HeldDoor.open(`${engine.dir}/docker.sock`, join(await temp.make(), "door.sock"));
      process.env["DOCKER_HOST"] = `unix://${door.path}`;
      const cli = join(import.meta.dirname, "../dist/cli.js");
      gateway = new GatewayProcess({ dataDir: await temp.make(), args: ["--lease-ms", "2000"], cli });
      await start();
    });
    afterAll(async () => {
      await gateway.end("SIGTERM");
      door.close();
      delete process.env["DOCKER_HOST"];
      await engine.remove();
      await temp.remove();
    });

    const start = async (): Promise<void> => {
      client = new GatewayClient({ url: await gateway.start() });
    };
    const until = (id: string, seen: (view: SandboxView) => boolean): Promise<SandboxView> =>
      eventually(
        `what ${id} should become`,
        async () => {
          const view = await client.get(id);
          return seen(view) && view;
        },
        LIMIT_MS,
      );
    const remove = async (id: string): Promise<void> => {
      await client.delete(id);
      await eventually("its end", async () => (await client.list()).items.length === 0, LIMIT_MS);
      expect(await engine.remains()).toEqual({ containers: [], volumes: [], dangling: 0 });
    };

    it("in the middle of an import begins it again under the same deadline, and brings the sandbox up", async () => {
      const path = join(await temp.make(), "image.tar");
      const parts = { busybox: await findBusybox(), fillerBytes: 300_000_000 };
      await pipeline(packSandboxImage(parts), createWriteStream(path));
      const image = { name: "local:1", path };
      // However fast an import is: this one stands in its middle until its gateway is gone.
      door.hold(20_000_000);
      const { id, deadline } = await client.create({
        name: "interrupted",
        image,
        command: ["sleep", "1000"],
      });
      const before = await until(id, ({ steps }) => (steps[0]?.position ?? 0) >= 20_000_000);
      expect(before).toMatchObject({ phase: "Provisioning", reason: "Preparation" });
      expect(open(before)).toEqual(["stop: stop", "delete: delete"]);
      await gateway.end("SIGKILL");
      door.letGo();
      await start();
      const ready = await until(id, ({ phase }) => phase === "Ready" || phase === "Error");
      expect(ready).toMatchObject({ phase: "Ready", reason: "DependenciesReady", attempt: 1 });
      expect(open(ready)).toEqual(["start: noop", "stop: stop", "delete: delete"]);
      expect(await engine.staging()).toEqual([]);
      expect(ready.run).toBeGreaterThan(before.run);
      expect(ready.deadline?.startedAt).toBe(deadline?.startedAt);
      expect((await engine.remains()).containers).toHaveLength(1);
      await remove(id);
    });

    it("while the sandbox runs finds it again, the same container, and hears its end", async () => {
      const command = ["sh", "-c", "while [ ! -e /workspace/go ]; do sleep 0.1; done; exit 6"];
      const { id } = await client.create({ name: "adopted", image: { name: IMAGE }, command });
      await until(id, ({ phase }) => phase === "Ready");
      const [container] = await engine.docker.listContainers();
      await gateway.end("SIGKILL");
      await start();
      expect(await client.get(id)).toMatchObject({ phase: "Ready", reason: "DependenciesReady" });
      await until(id, (view) => open(view).join() === "start: noop,stop: stop,delete: delete");
      await engine.exec(container!.Id, "touch", "/workspace/go");
      const ended = await until(id, ({ phase }) => phase !== "Ready");
      expect(ended).toMatchObject({ phase: "Error", reason: "MainProcessFailed", exitCode: 6, attempt: 1 });
      expect(open(ended)).toEqual(["start: restart", "stop: noop", "delete: delete"]);
      // It was the one container, whatever the gateway did meanwhile.
      expect((await engine.docker.listContainers({ all: true })).map(({ Id }) => Id)).toEqual([
        container!.Id,
      ]);
      await remove(id);
    });

    it("in the middle of a stop ends the stop, and the sandbox is stopped", async () => {
      const deaf = ["sh", "-c", "trap 'touch /workspace/asked' TERM; while :; do sleep 0.1; done"];
      const { id } = await client.create({ name: "stopping", image: { name: IMAGE }, command: deaf });
      await until(id, ({ phase }) => phase === "Ready");
      const container = (await engine.docker.listContainers())[0]!.Id;
      await client.stop(id);
      await eventually(
        "the wish to end",
        async () => (await engine.exec(container, "ls", "/workspace")) === "asked",
      );
      await gateway.end("SIGKILL");
      await start();
      const stopped = await until(id, ({ phase }) => phase === "Stopped");
      expect(stopped).toMatchObject({ reason: "Stopped", attempt: 1 });
      expect(open(stopped)).toEqual(["start: resume", "stop: noop", "delete: delete"]);
      expect(await engine.docker.listContainers()).toEqual([]);
      await remove(id);
    });
  },
);
