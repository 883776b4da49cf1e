import {
  HeldDoor,
  LeapingClock,
  StartedGateway,
  TempDirs,
  eventually,
  type StartedGatewayOptions,
} from "@slipway-examples/gateway-core/testing";
import { DEFAULT_BUDGETS, type SandboxView } from "@slipway-examples/gateway-core";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { dockerDrivers, type DockerDriversOptions } from "../src/docker-drivers.js";
import { findBusybox, packSandboxImage } from "../src/guest/sandbox-image.js";
import { open as openWays } from "./driver-bench.js";
import { TestEngine, whyNoEngine } from "./engine.js";
import { TestRegistry } from "./registry.js";

const IMAGE = "slipway-sandbox:latest";
const LIMIT_MS = 120_000;

/** Silence that no load makes: it is over when the clock of the test leaps. */
const STALL_MS = 600_000;
/** The one window for everything that real gateways have had. It passes on the clock of the test. */
const SHARED_WINDOW_MS = 300_000;
/** The clock leaps over no lease: every launch is alive. */
const LEASE_MS = 10 * STALL_MS;

describe.skipIf(whyNoEngine !== null)(
  `a gateway over a real engine (${whyNoEngine ?? "dockerd"})`,
  { timeout: 240_000 },
  () => {
    const temp = new TempDirs();
    let engine: TestEngine;
    let gateway: StartedGateway;

    const open = async (
      dataDir: string,
      options: DockerDriversOptions = {},
      more: Partial<StartedGatewayOptions> = {},
    ): Promise<StartedGateway> => {
      const dockerHost = `unix://${engine.dir}/docker.sock`;
      gateway = await StartedGateway.start({
        drivers: dockerDrivers({ dockerHost, stopGraceMs: 30_000, ...options }),
        dataDir,
        ...more,
      });
      return gateway;
    };

    beforeAll(async () => {
      engine = await TestEngine.start();
      await engine.importImage(IMAGE);
    });
    afterEach(async () => {
      await gateway.removeAll();
      expect(await engine.remains()).toEqual({ containers: [], volumes: [], dangling: 0 });
      await gateway.close();
    });
    afterAll(async () => {
      await engine.remove();
      await temp.remove();
    });

    const until = (
      id: string,
      seen: (view: SandboxView) => boolean,
      limitMs = LIMIT_MS,
    ): Promise<SandboxView> => gateway.until(id, seen, limitMs);
    const create = (name: string, command: string[], more: object = {}): Promise<{ id: string }> =>
      gateway.client.create({ name, image: { name: IMAGE }, command, ...more });

    it.each([
      ["the host's network", {}],
      ["no network and the gateway's socket", { socket: true }],
    ])("brings a sandbox up over %s, and its end is the command's", async (_, options) => {
      await open(await temp.make(), options);
      const { id } = await create("hello", [
        "sh",
        "-c",
        "while [ ! -e /workspace/go ]; do sleep 0.1; done; exit 5",
      ]);
      const ready = await until(id, ({ phase }) => phase === "Ready" || phase === "Error");
      expect(ready).toMatchObject({ phase: "Ready" });
      expect(ready.steps).toMatchObject([
        { step: "image", label: "Image found in the engine", subject: IMAGE },
        { step: "supervisor" },
      ]);
      const [container] = await engine.docker.listContainers();
      await engine.exec(container!.Id, "touch", "/workspace/go");
      const ended = await until(id, ({ phase }) => phase !== "Ready");
      expect(ended).toMatchObject({ phase: "Error", reason: "MainProcessFailed", exitCode: 5 });
    });

    /** A sandbox in its first run, which writes down that it was asked to end, and that it had the time for it. */
    const startWriter = async (name: string): Promise<{ id: string; container: string }> => {
      const asked = "echo asked >> runs; sleep 0.5; echo done >> runs; exit 0";
      const work = `cd /workspace; trap '${asked}' TERM; echo run >> runs; while :; do sleep 0.1; done`;
      const { id } = await create(name, ["sh", "-c", work]);
      await until(id, ({ phase }) => phase === "Ready");
      const [container] = await engine.docker.listContainers();
      // Ready is said of a process that was started: it may not have come to its first line.
      await eventually("the first run's line", async () => {
        const look = ["sh", "-c", "cat /workspace/runs 2>/dev/null; true"];
        return (await engine.exec(container!.Id, ...look)) === "run";
      });
      return { id, container: container!.Id };
    };
    /** Its second run: the first one was asked once, and had the time. The second one's container. */
    const startAgain = async (id: string): Promise<string> => {
      await gateway.client.start(id);
      await until(id, ({ phase }) => phase === "Ready");
      const [container] = await engine.docker.listContainers();
      await eventually("the second run's line", async () => {
        const runs = await engine.exec(container!.Id, "cat", "/workspace/runs");
        return runs === "run\nasked\ndone\nrun";
      });
      return container!.Id;
    };

    it("stops, keeps the workspace, starts in a new container, and deletes", async () => {
      await open(await temp.make());
      const { id, container } = await startWriter("again");
      await gateway.client.stop(id);
      await until(id, ({ phase }) => phase === "Stopped");
      expect((await engine.docker.listContainers()).length).toBe(0);
      expect(await startAgain(id)).not.toBe(container);
      expect((await engine.remains()).containers).toHaveLength(1);
    });

    it("passes a signal to the container on to the workload, once, and takes that end for no success", async () => {
      await open(await temp.make());
      const { id, container } = await startWriter("told");
      await engine.docker.getContainer(container).kill({ signal: "SIGTERM" });
      const ended = await until(id, ({ phase }) => phase === "Error" || phase === "Completed");
      expect(ended).toMatchObject({ phase: "Error" });
      await startAgain(id);
    });

    it.each([
      [
        "an image that nobody has",
        { image: { name: "nobody/has-it:1" }, driverOptions: { pull: "never" } },
        "ImagePullFailed",
      ],
      ["an image without the supervisor", { image: { name: "bare:1" } }, "DockerSupervisorMissing"],
    ])("ends a create of %s with the reason, and lets it be deleted", async (_, more, reason) => {
      await open(await temp.make());
      await engine.importImage("bare:1", { supervisor: false });
      const { id } = await create("wrong", ["true"], more);
      const ended = await until(id, ({ phase }) => phase === "Error");
      expect(ended).toMatchObject({ phase: "Error", reason });
      await eventually("no container", async () => (await engine.remains()).containers.length === 0);
      await engine.docker.getImage("bare:1").remove();
    });

    it("imports a local image of 1.5 GB within its preparation, and then has the whole admission window", async () => {
      const path = join(await temp.make(), "local-big.tar");
      const parts = { busybox: await findBusybox(), fillerBytes: 1_500_000_000 };
      await pipeline(packSandboxImage(parts), createWriteStream(path));
      const budgets = { ...DEFAULT_BUDGETS, admissionMs: 60_000, stallMs: STALL_MS };
      const clock = new LeapingClock();
      const dataDir = await temp.make();
      // However fast an import is: this one stands in its middle until its bytes were seen to move and the window is over.
      const door = await HeldDoor.open(`${engine.dir}/docker.sock`, join(dataDir, "door.sock"));
      door.hold(100_000_000);
      await open(dataDir, { dockerHost: `unix://${door.path}` }, { budgets, clock, leaseMs: LEASE_MS });
      const { id } = await create("big", ["sleep", "1000"], {
        image: { name: "local-big:1", path },
        policy: { version: 99 },
      });
      const begun = await until(id, ({ steps }) => (steps[0]?.position ?? 0) >= 100_000_000);
      door.pass(100_000_000);
      const moving = await until(id, ({ steps }) => (steps[0]?.position ?? 0) >= 200_000_000);
      for (const { steps } of [begun, moving])
        expect(steps[0]).toMatchObject({ step: "image", subject: "local-big:1", finishedAt: null });
      clock.leap(SHARED_WINDOW_MS);
      door.letGo();
      const refused = await until(
        id,
        ({ phase, admission }) => phase === "Error" || admission === "rejected",
        300_000,
      );
      const [image] = refused.steps;
      expect(image).toMatchObject({ label: "Image imported from archive", subject: "local-big:1" });
      expect(refused).toMatchObject({ phase: "Provisioning", admission: "rejected" });
      // The import took longer than a window for everything, and took nothing from the one for repair.
      expect(image!.elapsedMs).toBeGreaterThanOrEqual(SHARED_WINDOW_MS);
      const { deadlineAt, phaseEnteredAt } = refused.deadline!;
      expect(deadlineAt! - phaseEnteredAt).toBeGreaterThanOrEqual(budgets.admissionMs);
      await gateway.client.update(id, { policy: { version: 1 } });
      await until(id, ({ phase }) => phase === "Ready");
      const archive = (await engine.docker.listImages()).find(({ RepoTags }) =>
        RepoTags?.[0]?.includes("archive"),
      );
      await gateway.removeAll();
      door.close();
      await engine.docker.getImage(archive!.Id).remove();
    }, 400_000);

    it("expires a stalled import at its own deadline, names step and bytes, and leaves nothing once the engine goes on", async () => {
      const path = join(await temp.make(), "stalled.tar");
      const parts = { busybox: null, fillerBytes: 600_000_000 };
      await pipeline(packSandboxImage(parts), createWriteStream(path));
      const clock = new LeapingClock();
      const dataDir = await temp.make();
      const door = await HeldDoor.open(`${engine.dir}/docker.sock`, join(dataDir, "door.sock"));
      door.hold(20_000_000);
      const budgets = { ...DEFAULT_BUDGETS, stallMs: STALL_MS };
      await open(dataDir, { dockerHost: `unix://${door.path}` }, { budgets, clock });
      const { id } = await create("stalled", ["true"], { image: { name: "stalled:1", path } });
      await until(id, ({ steps }) => (steps[0]?.position ?? 0) >= 20_000_000);
      const goOn = engine.freeze();
      door.letGo();
      try {
        clock.leap(STALL_MS);
        const expired = await until(id, ({ phase }) => phase === "Error");
        expect(expired).toMatchObject({ reason: "ImagePreparationTimedOut", attempt: 1 });
        expect(expired.deadline?.expiry).toMatchObject({ limitedBy: "stall", phase: "preparation" });
        expect(expired.message).toMatch(/image/);
        expect(expired.message).toContain(String(expired.steps[0]!.position));
        expect(expired.steps[0]!.position).toBeGreaterThanOrEqual(20_000_000);
      } finally {
        goOn();
      }
      const clean = await until(id, ({ deadline }) => deadline?.cleanup.status === "done");
      expect(openWays(clean)).toEqual(["start: restart", "stop: stop", "delete: delete"]);
      await gateway.removeAll();
      door.close();
      await eventually("no container", async () => (await engine.remains()).containers.length === 0);
      await eventually("nothing staged", async () => (await engine.staging()).length === 0);
    });

    it("waits on nobody's budget for another's pull, and takes it over when that one stalls", async () => {
      const registry = await TestRegistry.start();
      try {
        const image = { name: await registry.add("shared", [3_000_000]) };
        const letGo = registry.hold();
        const clock = new LeapingClock();
        const budgets = { ...DEFAULT_BUDGETS, stallMs: 2 * STALL_MS };
        // The clock leaps over no lease: both launches are alive.
        await open(await temp.make(), {}, { budgets, clock, leaseMs: LEASE_MS });
        const one = await create("first", ["true"], { image, budgets: { stallMs: STALL_MS } });
        await until(one.id, ({ steps }) =>
          steps.some(({ step, position }) => step === "download" && position),
        );
        const two = await create("second", ["true"], { image });
        const waiting = await until(two.id, ({ deadline }) => deadline?.pausedAt !== null);
        expect(waiting.steps.filter(({ status }) => status === "running")).toMatchObject([
          {
            step: "download-wait",
            activeLabel: "Downloading image for another sandbox",
            subject: image.name,
          },
        ]);
        expect(waiting.deadline).toMatchObject({
          limitedBy: "phase-ceiling",
          bounds: { budget: null, stall: null },
        });
        clock.leap(STALL_MS);
        const stalled = await until(one.id, ({ phase }) => phase === "Error");
        expect(stalled).toMatchObject({ reason: "ImagePreparationTimedOut" });
        expect(stalled.deadline?.expiry).toMatchObject({ limitedBy: "stall" });
        // The one that waited has the pull now, and all the time that it had.
        const owns = await until(two.id, ({ deadline }) => deadline?.pausedAt === null);
        expect(owns.deadline).toMatchObject({ limitedBy: "stall" });
        expect(owns.deadline?.bounds.budget).toBeGreaterThanOrEqual(
          waiting.deadline!.startedAt + DEFAULT_BUDGETS.preparationMs + STALL_MS,
        );
        letGo();
        const ended = await until(two.id, ({ phase }) => phase === "Error");
        expect(ended.steps.map(({ step, finished }) => [step, finished])).toEqual([
          ["download-wait", true],
          ["download", true],
          ["image", true],
        ]);
        // Random bytes: the image came through, and no supervisor is in it.
        expect(ended).toMatchObject({ reason: "DockerSupervisorMissing" });
        await gateway.removeAll();
        await engine.docker.getImage(image.name).remove();
      } finally {
        await registry.close();
      }
    });
  },
);
