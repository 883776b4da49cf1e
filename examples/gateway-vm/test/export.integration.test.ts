import { GatewayClient } from "@slipway-examples/gateway-core";
import { eventually, LeapingClock } from "@slipway-examples/gateway-core/testing";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { create, GatewayLab, LIMIT_MS } from "./gateway-lab.js";
import { filesIn, Lab, openWays, whyNoLab } from "./lab.js";

/** Silence that no load makes: it is over when the clock of the test leaps. */
const STALL_MS = 600_000;

if (whyNoLab !== null) console.warn(`skipped: ${whyNoLab}`);

describe.skipIf(whyNoLab !== null)(
  `exports under a gateway over machines${whyNoLab === null ? "" : ` (${whyNoLab})`}`,
  () => {
    let at: GatewayLab;
    let lab: Lab;

    beforeAll(async () => {
      lab = await Lab.open();
      at = new GatewayLab(lab);
      await at.prepare();
    }, LIMIT_MS);

    afterEach(() => at.settle());

    afterAll(() => at.close());

    it(
      "a stalled export expires at its own deadline, names step and bytes, and leaves nothing",
      async () => {
        const clock = new LeapingClock();
        const { client, until } = await at.opened({ stallMs: STALL_MS, cleanupMs: 60_000 }, clock);
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
        expect(await at.left()).toEqual([]);
        await at.gateway!.removeAll(LIMIT_MS);
      },
      LIMIT_MS,
    );

    it(
      "a gateway that is killed in the middle of an export starts it again, and leaves nothing of the first",
      async () => {
        at.dataDir = await lab.dataDir();
        const process = at.process(["--port", "0", "--lease-ms", "1000"]);
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
          expect(await at.left(at.vmOfProcess)).toEqual([]);
        } finally {
          await process.end("SIGTERM");
        }
      },
      LIMIT_MS,
    );

    it(
      "a delete in the middle of an export ends it",
      async () => {
        const { client, until } = await at.opened();
        const letGo = lab.holdExports();
        const { id } = await client.create(create);
        const exporting = await until(id, ({ steps }) => (steps[0]?.position ?? 0) > 0);
        expect(exporting).toMatchObject({ phase: "Provisioning", reason: "Preparation" });
        expect(openWays(exporting)).toEqual(["stop: stop", "delete: delete"]);
        await at.gateway!.removeAll(LIMIT_MS).finally(letGo);
        expect(await filesIn(join(at.dataDir, "vm"))).toEqual([]);
      },
      LIMIT_MS,
    );
  },
);
