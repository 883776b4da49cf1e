import { DEFAULT_BUDGETS, GatewayClient, type SandboxView } from "@slipway-examples/gateway-core";
import {
  eventually,
  GatewayProcess,
  LeapingClock,
  StartedGateway,
} from "@slipway-examples/gateway-core/testing";
import { execFile } from "node:child_process";
import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { vmDrivers } from "../src/index.js";
import { filesIn, Lab, openWays, whyNoLab } from "./lab.js";

const run = promisify(execFile);

/** Without KVM a guest needs seconds for what takes a real machine none; a busy machine makes it many. */
const LIMIT_MS = 240_000;
const OPTIONS = { memoryMb: 384 };

/** Silence that no load makes: it is over when the clock of the test leaps. */
const STALL_MS = 600_000;

if (whyNoLab !== null) console.warn(`skipped: ${whyNoLab}`);

describe.skipIf(whyNoLab !== null)(
  `a gateway over machines${whyNoLab === null ? "" : ` (${whyNoLab})`}`,
  () => {
    let lab: Lab;
    let dataDir: string;
    let gateway: StartedGateway | null = null;

    beforeAll(async () => {
      lab = await Lab.open();
      // For the gateways that are processes of their own.
      vi.stubEnv("SLIPWAY_VM_GUEST", lab.guestDir);
      vi.stubEnv("SLIPWAY_VM_ACCELERATOR", "tcg");
      vi.stubEnv("DOCKER_HOST", `unix://${lab.dockerSocket}`);
      await lab.importImage(await lab.imageTar("big.tar", "--pad", "300"), "local-big:1");
      await lab.importImage(await lab.imageTar("bare.tar", "--without-supervisor"), "bare:1");
    }, LIMIT_MS);

    afterEach(async () => {
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

    const open = async (budgets: object = {}, clock?: LeapingClock): Promise<StartedGateway> => {
      dataDir = await lab.dataDir();
      const { guestDir, dockerSocket } = lab;
      gateway = await StartedGateway.start({
        drivers: vmDrivers({ guestDir, dockerSocket, accelerator: "tcg" }),
        dataDir,
        budgets: { ...DEFAULT_BUDGETS, ...budgets },
        clock,
      });
      return gateway;
    };

    const create = {
      name: "box",
      image: { name: "local-big:1" },
      command: ["sleep", "1000"],
      driverOptions: OPTIONS,
    };

    /** Where a gateway that is a process of its own keeps what is the driver's. */
    const vmOfProcess = (): string => join(dataDir, "data/vm");

    /** A gateway that can be killed. It has this process's environment, and with it the lab's. */
    const gatewayProcess = (args: readonly string[]): GatewayProcess =>
      new GatewayProcess({ dataDir, args, cli: join(import.meta.dirname, "../dist/cli.js") });

    /** What of the driver's is left, beside images that are complete. */
    const left = async (vm = join(dataDir, "vm")): Promise<readonly string[]> =>
      (await filesIn(vm)).filter((name) => !/^images\/[0-9a-f]{32}\.(sqfs|json)$/.test(name));

    it(
      "names the image first, admits with the whole window, survives a killed gateway, and ends in peace",
      async () => {
        dataDir = await lab.dataDir();
        const process = gatewayProcess(["--port", "0", "--admission-ms", "120000"]);
        const client = new GatewayClient({ url: await process.start() });
        try {
          const trap =
            "trap 'echo asked >> /workspace/ends; sleep 1.5; echo done >> /workspace/ends; exit 0' TERM";
          const command = ["sh", "-c", `${trap}; while :; do sleep 1; done`];
          const { id } = await client.create({ ...create, command, policy: { version: 99 } });
          const until = (
            what: string,
            is: (view: SandboxView) => boolean,
            by = client,
          ): Promise<SandboxView> =>
            eventually(
              what,
              async () => {
                const view = await by.get(id);
                return is(view) && view;
              },
              LIMIT_MS,
            );
          const first = await until("a first step", ({ steps }) => steps.length > 0);
          expect(first.steps[0]).toMatchObject({ step: "image", subject: "local-big:1", finishedAt: null });
          const moving = await until("bytes", ({ steps }) => (steps[0]?.position ?? 0) > 1_000_000);
          expect(moving).toMatchObject({ phase: "Provisioning" });
          const refused = await until("the refusal", ({ admission }) => admission === "rejected");
          const [image, disk, machine] = refused.steps;
          expect([image?.step, disk?.step, machine?.step]).toEqual(["image", "disk", "machine"]);
          expect(disk!.startedAt).toBeGreaterThanOrEqual(image!.finishedAt!);
          // However long preparation took, admission has its own window, whole, from the refusal on.
          const { deadlineAt, phaseEnteredAt, phase } = refused.deadline!;
          expect(phase).toBe("admission");
          expect(phaseEnteredAt).toBeGreaterThan(machine!.startedAt!);
          expect(deadlineAt! - phaseEnteredAt).toBeGreaterThanOrEqual(120_000);
          await client.update(id, { policy: { version: 1 } });
          await until("Ready", ({ phase: now }) => now === "Ready");
          const [before] = await lab.machines();

          await process.end("SIGKILL");
          const back = new GatewayClient({ url: await process.start() });
          const adopted = await until(
            "Ready again",
            ({ phase: now, decision }) => now === "Ready" && !decision.stale,
            back,
          );
          expect(adopted).toMatchObject({ reason: "DependenciesReady", attempt: 1, run: 1, exitCode: null });
          expect(openWays(adopted)).toEqual(["start: noop", "stop: stop", "delete: delete"]);
          expect(await lab.machines()).toEqual([before]);

          await back.stop(id);
          const stopped = await until("Stopped", ({ phase: now }) => now === "Stopped", back);
          expect(stopped.reason).toBe("Stopped");
          expect(openWays(stopped)).toEqual(["start: resume", "stop: noop", "delete: delete"]);
          expect(await left(vmOfProcess())).toEqual([`sandboxes/${id}/workspace.img`]);
          const workspace = join(vmOfProcess(), `sandboxes/${id}/workspace.img`);
          // It was asked to end once, and had the time for it.
          expect((await run("debugfs", ["-R", "cat ends", workspace])).stdout).toBe("asked\ndone\n");
          await back.delete(id);
          await eventually("gone", async () => (await back.list()).items.length === 0, LIMIT_MS);
          expect(await left(vmOfProcess())).toEqual([]);
        } finally {
          await process.end("SIGTERM");
        }
      },
      LIMIT_MS,
    );

    it(
      "a supervisor that is killed is no success",
      async () => {
        const { client, until } = await opened(open());
        const { id } = await client.create({
          ...create,
          command: ["sh", "-c", "kill -KILL $PPID; sleep 100"],
        });
        const failed = await until(id, ({ phase }) => phase === "Error" || phase === "Completed", LIMIT_MS);
        expect(failed).toMatchObject({ phase: "Error", reason: "GuestPanicked" });
        expect(failed.message).toContain("slipway: the supervisor ended with 137");
        await gateway!.removeAll(LIMIT_MS);
        expect(await left()).toEqual([]);
      },
      LIMIT_MS,
    );

    it(
      "a stalled export expires at its own deadline, names step and bytes, and leaves nothing",
      async () => {
        const clock = new LeapingClock();
        const { client, until } = await opened(open({ stallMs: STALL_MS, cleanupMs: 60_000 }, clock));
        const letGo = lab.holdExports();
        const { id } = await client.create(create);
        await until(id, ({ steps }) => (steps[0]?.position ?? 0) > 0);
        const thaw = lab.freezeEngine();
        letGo();
        try {
          // Whatever was under way has come through: from here on there is silence.
          const [before] = (await client.get(id)).steps;
          clock.leap(STALL_MS);
          const expired = await until(id, ({ phase }) => phase === "Error", LIMIT_MS);
          expect(expired).toMatchObject({ phase: "Error", reason: "ImagePreparationTimedOut" });
          const position = expired.steps[0]!.position!;
          expect(position).toBeGreaterThanOrEqual(before!.position!);
          expect(expired.deadline?.expiry).toMatchObject({ limitedBy: "stall", phase: "preparation" });
          expect(expired.message).toContain("image");
          expect(expired.message).toContain(String(position));
          // As long as the engine has something of it, the cleanup is owed, and a start would have to wait for it.
          expect(expired.deadline?.cleanup.status).not.toBe("done");
        } finally {
          thaw();
        }
        const clean = await until(id, ({ deadline }) => deadline?.cleanup.status === "done", LIMIT_MS);
        expect(clean).toMatchObject({ phase: "Error", reason: "ImagePreparationTimedOut" });
        expect(openWays(clean)).toEqual(["start: restart", "stop: stop", "delete: delete"]);
        expect(await lab.containers()).toEqual([]);
        expect(await left()).toEqual([]);
        await gateway!.removeAll(LIMIT_MS);
      },
      LIMIT_MS,
    );

    it(
      "a gateway that is killed in the middle of an export starts it again, and leaves nothing of the first",
      async () => {
        dataDir = await lab.dataDir();
        const process = gatewayProcess(["--port", "0", "--lease-ms", "1000"]);
        const client = new GatewayClient({ url: await process.start() });
        const letGo = lab.holdExports();
        const { id } = await client.create(create);
        const bytes = async (): Promise<boolean> => ((await client.get(id)).steps[0]?.position ?? 0) > 0;
        await eventually("bytes", bytes, LIMIT_MS);
        await process.end("SIGKILL");
        letGo();
        const back = new GatewayClient({ url: await process.start() });
        try {
          const again = await eventually(
            "the machine",
            async () => {
              const view = await back.get(id);
              return (
                view.steps.some(({ step, finishedAt }) => step === "machine" && finishedAt !== null) && view
              );
            },
            LIMIT_MS,
          );
          expect(again.run).toBeGreaterThan(1);
          expect(again).toMatchObject({ phase: "Provisioning", reason: "Preparation", attempt: 1 });
          expect(again.deadline).toMatchObject({ phase: "preparation", status: "active" });
          expect(openWays(again)).toEqual(["stop: stop", "delete: delete"]);
          expect(await lab.containers()).toEqual([]);
          await back.delete(id);
          await eventually("gone", async () => (await back.list()).items.length === 0, LIMIT_MS);
          expect(await left(vmOfProcess())).toEqual([]);
        } finally {
          await process.end("SIGTERM");
        }
      },
      LIMIT_MS,
    );

    it(
      "a delete in the middle of an export ends it",
      async () => {
        const { client, until } = await opened(open());
        const letGo = lab.holdExports();
        const { id } = await client.create(create);
        const exporting = await until(id, ({ steps }) => (steps[0]?.position ?? 0) > 0);
        expect(exporting).toMatchObject({ phase: "Provisioning", reason: "Preparation" });
        expect(openWays(exporting)).toEqual(["stop: stop", "delete: delete"]);
        await gateway!.removeAll(LIMIT_MS).finally(letGo);
        expect(await filesIn(join(dataDir, "vm"))).toEqual([]);
      },
      LIMIT_MS,
    );

    it(
      "a full disk is tried again, says so, and has its room back after a stop",
      async () => {
        dataDir = await lab.dataDir();
        const file = join(lab.dir, "small.img");
        await writeFile(file, "");
        await truncate(file, 160_000_000);
        await run("mke2fs", ["-q", "-F", "-t", "ext4", file]);
        await run("mount", ["-o", "loop", file, dataDir]);
        try {
          const { guestDir, dockerSocket } = lab;
          const drivers = vmDrivers({ guestDir, dockerSocket, accelerator: "tcg" });
          gateway = await StartedGateway.start({ drivers, dataDir });
          const { id } = await gateway.client.create(create);
          const full = await gateway.until(
            id,
            ({ message, phase }) => message.includes("No space left on device") || phase === "Error",
            LIMIT_MS,
          );
          const goesOn = { phase: "Provisioning", reason: "Preparation", attempt: 1 };
          expect(full).toMatchObject({ ...goesOn, deadline: { status: "active" } });
          expect(openWays(full)).toEqual(["stop: stop", "delete: delete"]);
          await gateway.client.stop(id);
          await gateway.until(id, ({ phase }) => phase === "Stopped", LIMIT_MS);
          expect(await left()).toEqual([]);
          await gateway.removeAll(LIMIT_MS);
          await gateway.close();
          gateway = null;
        } finally {
          await run("umount", ["-l", dataDir]);
        }
      },
      LIMIT_MS,
    );

    it.each([
      ["an image that does not exist", "nobody/has-this:1", "MachineImageNotFound"],
      ["an image without a supervisor", "bare:1", "MachineSupervisorMissing"],
    ])(
      "%s is an error at once, and may be started again or deleted",
      async (_what, name, reason) => {
        const { client, until } = await opened(open());
        const { id } = await client.create({ ...create, image: { name } });
        const failed = await until(id, ({ phase }) => phase === "Error", LIMIT_MS);
        expect(failed).toMatchObject({ phase: "Error", reason });
        expect(failed.message).toContain(name);
        const settled = await until(id, ({ deadline }) => deadline?.cleanup.status !== "pending", LIMIT_MS);
        expect(openWays(settled)).toEqual(["start: restart", "stop: stop", "delete: delete"]);
        await gateway!.removeAll(LIMIT_MS);
        expect(await left()).toEqual([]);
      },
      LIMIT_MS,
    );
  },
);

/** A gateway's client, and waiting for one of its sandboxes. */
async function opened(gateway: Promise<StartedGateway>): Promise<Pick<StartedGateway, "client" | "until">> {
  const started = await gateway;
  const until: StartedGateway["until"] = (id, seen, limitMs = LIMIT_MS) => started.until(id, seen, limitMs);
  return { client: started.client, until };
}
