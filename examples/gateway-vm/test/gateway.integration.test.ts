import { GatewayClient, type SandboxView } from "@slipway-examples/gateway-core";
import { eventually, StartedGateway } from "@slipway-examples/gateway-core/testing";
import { execFile } from "node:child_process";
import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { vmDrivers } from "../src/index.js";
import { create, GatewayLab, LIMIT_MS } from "./gateway-lab.js";
import { Lab, openWays, whyNoLab } from "./lab.js";

const run = promisify(execFile);

if (whyNoLab !== null) console.warn(`skipped: ${whyNoLab}`);

describe.skipIf(whyNoLab !== null)(
  `a gateway over machines${whyNoLab === null ? "" : ` (${whyNoLab})`}`,
  () => {
    let at: GatewayLab;
    let lab: Lab;

    beforeAll(async () => {
      lab = await Lab.open();
      at = new GatewayLab(lab);
      await at.prepare();
      await lab.importImage(await lab.imageTar("bare.tar", "--without-supervisor"), "bare:1");
    }, LIMIT_MS);

    afterEach(() => at.settle());

    afterAll(() => at.close());

    it(
      "names the image first, admits with the whole window, survives a killed gateway, and ends in peace",
      async () => {
        at.dataDir = await lab.dataDir();
        const process = at.process(["--port", "0", "--admission-ms", "120000"]);
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
          expect(await at.left(at.vmOfProcess)).toEqual([`sandboxes/${id}/workspace.img`]);
          const workspace = join(at.vmOfProcess, `sandboxes/${id}/workspace.img`);
          // It was asked to end once, and had the time for it.
          expect((await run("debugfs", ["-R", "cat ends", workspace])).stdout).toBe("asked\ndone\n");
          await back.delete(id);
          await eventually("gone", async () => (await back.list()).items.length === 0, LIMIT_MS);
          expect(await at.left(at.vmOfProcess)).toEqual([]);
        } finally {
          await process.end("SIGTERM");
        }
      },
      LIMIT_MS,
    );

    it(
      "a supervisor that is killed is no success",
      async () => {
        const { client, until } = await at.opened();
        const { id } = await client.create({
          ...create,
          command: ["sh", "-c", "kill -KILL $PPID; sleep 100"],
        });
        const failed = await until(id, ({ phase }) => phase === "Error" || phase === "Completed", LIMIT_MS);
        expect(failed).toMatchObject({ phase: "Error", reason: "GuestPanicked" });
        expect(failed.message).toContain("slipway: the supervisor ended with 137");
        await at.gateway!.removeAll(LIMIT_MS);
        expect(await at.left()).toEqual([]);
      },
      LIMIT_MS,
    );

    it(
      "a full disk is tried again, says so, and has its room back after a stop",
      async () => {
        at.dataDir = await lab.dataDir();
        const file = join(lab.dir, "small.img");
        await writeFile(file, "");
        await truncate(file, 160_000_000);
        await run("mke2fs", ["-q", "-F", "-t", "ext4", file]);
        await run("mount", ["-o", "loop", file, at.dataDir]);
        try {
          const { guestDir, dockerSocket } = lab;
          const drivers = vmDrivers({ guestDir, dockerSocket, accelerator: "tcg" });
          const gateway = await StartedGateway.start({ drivers, dataDir: at.dataDir });
          at.gateway = gateway;
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
          expect(await at.left()).toEqual([]);
          await gateway.removeAll(LIMIT_MS);
          await gateway.close();
          at.gateway = null;
        } finally {
          await run("umount", ["-l", at.dataDir]);
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
        const { client, until } = await at.opened();
        const { id } = await client.create({ ...create, image: { name } });
        const failed = await until(id, ({ phase }) => phase === "Error", LIMIT_MS);
        expect(failed).toMatchObject({ phase: "Error", reason });
        expect(failed.message).toContain(name);
        const settled = await until(id, ({ deadline }) => deadline?.cleanup.status !== "pending", LIMIT_MS);
        expect(openWays(settled)).toEqual(["start: restart", "stop: stop", "delete: delete"]);
        await at.gateway!.removeAll(LIMIT_MS);
        expect(await at.left()).toEqual([]);
      },
      LIMIT_MS,
    );
  },
);
