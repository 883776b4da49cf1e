import { GatewayClient, type SandboxView } from "@slipway-examples/gateway-core";
import { eventually, GatewayProcess, StartedGateway } from "@slipway-examples/gateway-core/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { vmDrivers } from "../src/index.js";
import { filesIn, Lab, openWays as open, whyNoLab } from "./lab.js";

/** Without KVM a guest needs seconds for what takes a real machine none; a busy machine makes it many. */
const LIMIT_MS = 300_000;

if (whyNoLab !== null) console.warn(`skipped: ${whyNoLab}`);

describe.skipIf(whyNoLab !== null)(
  `faults under a gateway over machines${whyNoLab === null ? "" : ` (${whyNoLab})`}`,
  () => {
    let lab: Lab;
    let dataDir: string;
    let gateway: StartedGateway | null = null;

    beforeAll(async () => {
      lab = await Lab.open();
      vi.stubEnv("SLIPWAY_VM_GUEST", lab.guestDir);
      vi.stubEnv("SLIPWAY_VM_ACCELERATOR", "tcg");
      vi.stubEnv("DOCKER_HOST", `unix://${lab.dockerSocket}`);
      await lab.importImage(await lab.imageTar("big.tar", "--pad", "300"), "local-big:1");
      await lab.importImage(await lab.imageTar("box.tar"), "box:1");
    }, LIMIT_MS);

    afterEach(async () => {
      await gateway?.removeAll(LIMIT_MS);
      await gateway?.close();
      gateway = null;
      await eventually("no container left", async () => (await lab.containers()).length === 0);
      await eventually("no process left", async () => (await lab.processes()).length === 0);
      expect(await lab.mounts()).toEqual([]);
    });

    afterAll(async () => {
      vi.unstubAllEnvs();
      await lab.close();
    });

    const opened = async (): Promise<StartedGateway> => {
      dataDir = await lab.dataDir();
      const { guestDir, dockerSocket } = lab;
      const drivers = vmDrivers({ guestDir, dockerSocket, accelerator: "tcg" });
      return (gateway = await StartedGateway.start({ drivers, dataDir }));
    };

    const until = (id: string, is: (view: SandboxView) => boolean): Promise<SandboxView> =>
      gateway!.until(id, is, LIMIT_MS);

    const create = (image: string, command: readonly string[] = ["sleep", "1000"], name = "box") => ({
      name,
      image: { name: image },
      command: [...command],
      driverOptions: { memoryMb: 384 },
    });

    const sandboxFiles = async (vm = join(dataDir, "vm")): Promise<readonly string[]> =>
      filesIn(join(vm, "sandboxes"));

    it("an engine that is killed during an export: the export begins again in the same deadline", {
      timeout: LIMIT_MS,
    }, async () => {
      const { client } = await opened();
      const letGo = lab.holdExports();
      const { id, deadline } = await client.create(create("local-big:1"));
      await until(id, ({ steps }) => (steps[0]?.position ?? 0) > 0);
      await lab.killEngine();
      letGo();
      const waiting = await until(id, ({ message }) => message.includes("The Docker engine failed"));
      expect(waiting).toMatchObject({ phase: "Provisioning", reason: "Preparation", attempt: 1 });
      expect(open(waiting)).toEqual(["stop: stop", "delete: delete"]);
      // Of the export that broke off there is nothing, but the note of what the engine may still have.
      const left = (await sandboxFiles()).filter((name) => !name.endsWith("/export.json"));
      expect(left.filter((name) => name.endsWith(".sqfs"))).toEqual([]);
      await lab.startEngine();
      const up = await until(id, ({ steps }) =>
        steps.some(({ step, finishedAt }) => step === "machine" && finishedAt !== null),
      );
      expect(up).toMatchObject({ phase: "Provisioning", reason: "Preparation", attempt: 1 });
      expect(open(up)).toEqual(["stop: stop", "delete: delete"]);
      await onlyTheImage(join(dataDir, "vm"));
      expect(up.deadline?.startedAt).toBe(deadline?.startedAt);
      expect(await lab.containers()).toEqual([]);
      expect(await lab.machines()).toHaveLength(1);
    });

    it("an engine that dies while a machine runs and while it stops is nothing to the machine", {
      timeout: LIMIT_MS,
    }, async () => {
      const { client } = await opened();
      const { id } = await client.create(create("box:1"));
      await until(id, ({ phase }) => phase === "Ready" || phase === "Error");
      await lab.killEngine();
      try {
        await gateway!.gateway.reconcile();
        const ready = await client.get(id);
        expect(ready).toMatchObject({
          phase: "Ready",
          reason: "DependenciesReady",
          decision: { stale: false },
        });
        expect(open(ready)).toEqual(["start: noop", "stop: stop", "delete: delete"]);
        await client.stop(id);
        const stopped = await until(id, ({ phase }) => phase !== "Ready" && phase !== "Stopping");
        expect(stopped).toMatchObject({ phase: "Stopped", reason: "Stopped" });
        expect(open(stopped)).toEqual(["start: resume", "stop: noop", "delete: delete"]);
        expect(await sandboxFiles()).toEqual([`${id}/workspace.img`]);
        await gateway!.removeAll(LIMIT_MS);
        expect(await sandboxFiles()).toEqual([]);
      } finally {
        await lab.startEngine();
      }
    });

    it("a QEMU that is killed is an error that a start mends, in the same workspace", {
      timeout: 2 * LIMIT_MS,
    }, async () => {
      const { client } = await opened();
      const script = [
        "[ -e /workspace/mark ] && exit 7",
        "touch /workspace/mark; sync",
        // On the disk after the mark is: whoever finds this there will find the mark.
        "echo the mark is there >/workspace/told; sync; sleep 1000",
      ].join("\n");
      const made = create("box:1", ["sh", "-c", script]);
      const driverOptions = { ...made.driverOptions, workspaceMb: 16 };
      const { id } = await client.create({ ...made, driverOptions });
      await until(id, ({ phase }) => phase === "Ready" || phase === "Error");
      const workspace = join(dataDir, "vm/sandboxes", id, "workspace.img");
      await eventually(
        "the mark",
        async () => (await readFile(workspace)).includes("the mark is there\n"),
        LIMIT_MS,
      );
      const [line = ""] = await lab.machines();
      const before = await client.get(id);
      process.kill(Number.parseInt(line, 10), "SIGKILL");
      const killed = await until(id, ({ phase }) => phase !== "Ready");
      expect(killed).toMatchObject({ phase: "Error", reason: "Killed", attempt: 1, run: before.run });
      expect(open(killed)).toEqual(["start: restart", "stop: stop", "delete: delete"]);
      await eventually("only what tells of its end", async () => {
        const names = (await sandboxFiles()).map((name) => name.split("/").at(-1) ?? "");
        return names.every(
          (name) =>
            ["workspace.img", "machine.json", "end.json", "qemu.log"].includes(name) ||
            name.endsWith(".sock"),
        );
      });
      await client.start(id);
      // Its command tells by its end that the first run's mark is there.
      const again = await until(id, ({ attempt, exitCode }) => attempt === 2 && exitCode !== null);
      expect(again).toMatchObject({ phase: "Error", reason: "MainProcessFailed", exitCode: 7 });
    });

    it("a gateway that is killed in the middle of a stop ends the stop, and the workspace alone is left", {
      timeout: LIMIT_MS,
    }, async () => {
      dataDir = await lab.dataDir();
      const cli = join(import.meta.dirname, "../dist/cli.js");
      const process = new GatewayProcess({ dataDir, args: ["--port", "0", "--lease-ms", "2000"], cli });
      let client = new GatewayClient({ url: await process.start() });
      const untilThere = (id: string, is: (view: SandboxView) => boolean): Promise<SandboxView> =>
        eventually(
          `what ${id} should become`,
          async () => {
            const view = await client.get(id);
            return is(view) && view;
          },
          LIMIT_MS,
        );
      try {
        const deaf = ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"];
        const { id } = await client.create(create("box:1", deaf));
        await untilThere(id, ({ phase }) => phase === "Ready" || phase === "Error");
        expect(await client.stop(id)).toMatchObject({ phase: "Stopping" });
        await process.end("SIGKILL");
        // Its guest gives its programs three seconds, and a machine that has ended is there until somebody lets it go.
        expect(await lab.machines()).toHaveLength(1);
        client = new GatewayClient({ url: await process.start() });
        const stopped = await untilThere(id, ({ phase }) => phase !== "Stopping");
        expect(stopped).toMatchObject({ phase: "Stopped", reason: "Stopped", attempt: 1 });
        expect(open(stopped)).toEqual(["start: resume", "stop: noop", "delete: delete"]);
        expect(await lab.machines()).toEqual([]);
        expect(await sandboxFiles(join(dataDir, "data/vm"))).toEqual([`${id}/workspace.img`]);
        await client.delete(id);
        await eventually("gone", async () => (await client.list()).items.length === 0, LIMIT_MS);
        expect(await sandboxFiles(join(dataDir, "data/vm"))).toEqual([]);
      } finally {
        await process.end("SIGTERM");
      }
    });

    const stepOf = ({ steps }: SandboxView, name: string) => steps.find(({ step }) => step === name);
    const exports = ({ steps }: SandboxView): boolean => (steps[0]?.position ?? 0) > 0;
    const waits = ({ deadline }: SandboxView): boolean => deadline?.pausedAt !== null;
    const settled = ({ phase }: SandboxView): boolean => phase === "Ready" || phase === "Error";

    const onlyTheImage = async (vm: string): Promise<void> => {
      const names = (await filesIn(join(vm, "images"))).map((name) => name.replace(/^[0-9a-f]{32}/, ""));
      expect(names).toEqual([".json", ".sqfs"]);
    };

    it("two creates of one uncached image export it once: one waits, shows it, and both become Ready", {
      timeout: 2 * LIMIT_MS,
    }, async () => {
      const { client } = await opened();
      const events = await lab.docker.getEvents({ filters: { event: ["export"] } });
      const exported: string[] = [];
      events.on("data", (chunk: Buffer) => exported.push(String(chunk)));
      const make = async (name: string): Promise<string> =>
        (await client.create(create("local-big:1", ["sleep", "1000"], name))).id;
      const letGo = lab.holdExports();
      const first = await make("first");
      await until(first, exports);
      const second = await make("second");
      const waiting = await until(second, waits).finally(letGo);
      expect(stepOf(waiting, "image-wait-1")).toMatchObject({
        activeLabel: "Waiting for image, which sandbox first is packing",
        subject: "local-big:1",
      });
      const done = await Promise.all([first, second].map((id) => until(id, settled)));
      (events as unknown as { destroy: () => void }).destroy();
      expect(exported).toHaveLength(1);
      expect(done.map(({ phase, attempt, run }) => [phase, attempt, run])).toEqual([
        ["Ready", 1, 1],
        ["Ready", 1, 1],
      ]);
      for (const view of done) expect(open(view)).toEqual(["start: noop", "stop: stop", "delete: delete"]);
      expect(done.map((view) => stepOf(view, "image")?.label)).toEqual([
        "Image exported from local Docker",
        "Image reused",
      ]);
      await onlyTheImage(join(dataDir, "vm"));
    });

    it("a gateway that is killed while it exports what another's sandbox waits for: that one exports it", {
      timeout: 2 * LIMIT_MS,
    }, async () => {
      dataDir = await lab.dataDir();
      const cli = join(import.meta.dirname, "../dist/cli.js");
      const other = new GatewayProcess({ dataDir, args: ["--port", "0"], cli });
      const letGo = lab.holdExports();
      try {
        const client = new GatewayClient({ url: await other.start() });
        const { guestDir, dockerSocket } = lab;
        const drivers = vmDrivers({ guestDir, dockerSocket, accelerator: "tcg" });
        // On the same store: what the one was about to do is the other's once its lease is over.
        gateway = await StartedGateway.start({ drivers, dataDir: join(dataDir, "data") });
        const { id: first } = await client.create(create("local-big:1", ["sleep", "1000"], "first"));
        await eventually("an export", async () => exports(await client.get(first)), LIMIT_MS);
        const { id } = await gateway.client.create(create("local-big:1", ["sleep", "1000"], "second"));
        const waiting = await until(id, waits);
        expect(stepOf(waiting, "image-wait-1")?.activeLabel).toContain("which sandbox first is packing");
        await other.end("SIGKILL");
        letGo();
        const ready = await until(id, settled);
        expect(ready).toMatchObject({ phase: "Ready", attempt: 1, run: 1 });
        expect(stepOf(ready, "image")?.label).toBe("Image exported from local Docker");
        const taken = await until(first, (view) => stepOf(view, "machine")?.finished === true);
        expect(taken).toMatchObject({ attempt: 1, run: 2 });
        expect(stepOf(taken, "image")?.label).toBe("Image reused");
        await onlyTheImage(join(dataDir, "data/vm"));
        // Of the export that broke off there is nothing, here or in the engine.
        expect(await lab.containers()).toEqual([]);
        expect(await lab.machines()).toHaveLength(2);
      } finally {
        letGo();
        await other.end("SIGKILL");
      }
    });
  },
);
