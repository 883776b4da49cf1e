import { DEFAULT_BUDGETS, type DriverProgress, type SandboxView } from "@slipway-examples/gateway-core";
import { LeapingClock, StartedGateway } from "@slipway-examples/gateway-core/testing";
import { readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { vmDrivers, type VmDriver } from "../src/index.js";
import { filesIn, Lab, whyNoLab } from "./lab.js";

const PAD_MB = 1500;
const IMAGE = "local-big:1";

/** The one window for everything that real gateways have had. It passes on the clock of the test. */
const SHARED_WINDOW_MS = 300_000;
/** The clock leaps over no lease: the launch is alive. */
const LEASE_MS = 3_600_000;
const LIMIT_MS = 900_000;
/** Silence that no load makes: it is over when the clock of the test leaps. */
const STALL_MS = 600_000;

/** An image of this size takes minutes on a small machine, so it is asked for. */
const whyNot =
  whyNoLab ?? (process.env["SLIPWAY_TEST_LARGE_IMAGE"] === "1" ? null : "SLIPWAY_TEST_LARGE_IMAGE is not 1");

if (whyNot !== null) console.warn(`skipped: ${whyNot}`);

describe.skipIf(whyNot !== null)(
  `an image of ${PAD_MB} MB of the local engine, end to end${whyNot === null ? "" : ` (${whyNot})`}`,
  () => {
    let lab: Lab;
    let dataDir: string;
    let gateway: StartedGateway;

    beforeAll(async () => {
      lab = await Lab.open();
      await lab.importImage(await lab.imageTar("big.tar", "--pad", String(PAD_MB)), IMAGE);
      const { Size } = await lab.docker.getImage(IMAGE).inspect();
      expect(Size).toBeGreaterThanOrEqual(1_500_000_000);
    }, LIMIT_MS);

    afterEach(async () => {
      await gateway.close();
    });

    afterAll(async () => lab.close());

    const open = async (budgets: object, clock?: LeapingClock): Promise<StartedGateway> => {
      dataDir = await lab.dataDir();
      const { guestDir, dockerSocket } = lab;
      gateway = await StartedGateway.start({
        drivers: (context) =>
          vmDrivers({ guestDir, dockerSocket, accelerator: "tcg" })(context).map(overheard),
        dataDir,
        budgets: { ...DEFAULT_BUDGETS, ...budgets },
        clock,
        leaseMs: LEASE_MS,
      });
      return gateway;
    };

    /** What the driver said of the image, and whether its file system stood in its place at that very moment. */
    const said: { readonly done: boolean; readonly isReady: boolean }[] = [];
    const overheard = (driver: VmDriver): VmDriver => {
      const launch = driver.launch.bind(driver);
      driver.launch = (request, context) => {
        const report = (progress: DriverProgress): void => {
          const isReady = readdirSync(join(dataDir, "vm/images")).some((name) => name.endsWith(".sqfs"));
          if (progress.step === "image") said.push({ done: progress.done === true, isReady });
          context.report(progress);
        };
        return launch(request, { signal: context.signal, report });
      };
      return driver;
    };

    const create = {
      name: "big",
      image: { name: IMAGE },
      command: ["sleep", "1000"],
      driverOptions: { memoryMb: 384 },
    };

    const rootfs = async (): Promise<readonly string[]> =>
      (await filesIn(join(dataDir, "vm/images"))).filter((name) => name.endsWith(".sqfs"));

    it("takes longer than a shared window, says what it does, and is admitted with its whole admission window", {
      timeout: LIMIT_MS,
    }, async () => {
      const admissionMs = 120_000;
      const clock = new LeapingClock();
      const { client } = await open({ admissionMs, stallMs: STALL_MS }, clock);
      // However fast an export is: this one stops every hundred megabytes until what is there was seen.
      const letGo = lab.holdExports();
      const { id } = await client.create({ ...create, policy: { version: 99 } });
      // What every guest boots from is there at once. It is not what was asked for, and no step claims that it is.
      expect(await readdir(lab.guestDir)).toEqual(expect.arrayContaining(["initrd.gz", "vmlinuz"]));
      const seen: SandboxView[] = [];
      const moving: number[] = [];
      for (let stop = 0; stop < 12; stop += 1) {
        const before = moving.at(-1) ?? 0;
        const moved = await gateway.until(
          id,
          (view) => seen.push(view) > 0 && (view.steps[0]?.position ?? 0) > before,
          LIMIT_MS,
        );
        moving.push(moved.steps[0]!.position!);
        lab.passExports(100_000_000);
      }
      clock.leap(SHARED_WINDOW_MS);
      letGo();
      const refused = await gateway.until(
        id,
        (view) => {
          seen.push(view);
          return view.admission === "rejected" || view.phase === "Error";
        },
        LIMIT_MS,
      );
      expect(refused).toMatchObject({ phase: "Provisioning", admission: "rejected" });

      const first = seen.find(({ steps }) => steps.length > 0)?.steps[0];
      expect(first).toMatchObject({ step: "image", subject: IMAGE, finishedAt: null });
      expect(moving.at(-1)).toBeLessThan(1_500_000_000);

      const [image, disk, machine] = refused.steps;
      expect(image).toMatchObject({ label: "Image exported from local Docker", subject: IMAGE });
      expect(image!.position).toBeGreaterThanOrEqual(1_500_000_000);
      expect(said.length).toBeGreaterThan(10);
      expect(said.map(({ isReady }) => isReady)).toEqual(said.map(({ done }) => done));
      expect(said.filter(({ done }) => done)).toHaveLength(1);
      expect(disk).toMatchObject({ step: "disk", subject: IMAGE });
      expect(disk!.startedAt).toBeGreaterThanOrEqual(image!.finishedAt!);
      expect(disk!.finishedAt).toBeGreaterThanOrEqual(disk!.startedAt!);
      expect(machine).toMatchObject({ step: "machine" });

      const { startedAt, phaseEnteredAt, deadlineAt, phase } = refused.deadline!;
      expect(phase).toBe("admission");
      expect(phaseEnteredAt - startedAt).toBeGreaterThanOrEqual(SHARED_WINDOW_MS);
      expect(deadlineAt! - phaseEnteredAt).toBeGreaterThanOrEqual(admissionMs);
      await client.update(id, { policy: { version: 1 } });
      await gateway.until(id, ({ phase: now }) => now === "Ready", LIMIT_MS);
      await gateway.removeAll(LIMIT_MS);
      expect(await lab.containers()).toEqual([]);
      expect(await filesIn(join(dataDir, "vm/sandboxes"))).toEqual([]);
    });

    it("that stops in the middle expires at its own deadline, names step and bytes, and leaves nothing", {
      timeout: LIMIT_MS,
    }, async () => {
      const clock = new LeapingClock();
      const { client } = await open({ stallMs: STALL_MS, cleanupMs: 60_000 }, clock);
      const letGo = lab.holdExports();
      const { id } = await client.create(create);
      await gateway.until(id, ({ steps }) => (steps[0]?.position ?? 0) > 0, LIMIT_MS);
      expect(await rootfs()).toEqual([]);
      const thaw = lab.freezeEngine();
      letGo();
      try {
        clock.leap(STALL_MS);
        const expired = await gateway.until(id, ({ phase }) => phase === "Error", LIMIT_MS);
        expect(expired).toMatchObject({ reason: "ImagePreparationTimedOut", admission: "pending" });
        expect(expired.deadline?.expiry).toMatchObject({ limitedBy: "stall", phase: "preparation" });
        const [image] = expired.steps;
        expect(image).toMatchObject({ step: "image", finishedAt: null });
        expect(image!.position).toBeLessThan(1_500_000_000);
        expect(expired.message).toContain("image");
        expect(expired.message).toContain(String(image!.position));
      } finally {
        thaw();
      }
      const clean = await gateway.until(id, ({ deadline }) => deadline?.cleanup.status === "done", LIMIT_MS);
      expect(clean.operations).toMatchObject({
        start: { allowed: true },
        stop: { allowed: true },
        delete: { allowed: true },
      });
      expect(await lab.containers()).toEqual([]);
      expect(await lab.processes()).toEqual([]);
      expect(await lab.mounts()).toEqual([]);
      // No staging, no machine, no lock, no half of an image.
      expect(await filesIn(join(dataDir, "vm"))).toEqual([]);
      await gateway.removeAll(LIMIT_MS);
    });
  },
);
