import type { DriverProgress } from "@slipway-examples/gateway-core";
import { eventually } from "@slipway-examples/gateway-core/testing";
import { execFile } from "node:child_process";
import { readdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { filesIn, Lab, Launch, requestOf, whyNoLab, type Sent } from "./lab.js";

const run = promisify(execFile);
const context = { signal: new AbortController().signal };
const LIMIT_MS = 120_000;

/** Large enough that an export is caught in the middle of it. */
const PAD_MB = 300;

if (whyNoLab !== null) console.warn(`skipped: ${whyNoLab}`);

describe.skipIf(whyNoLab !== null)(
  `images, on a real engine${whyNoLab === null ? "" : ` (${whyNoLab})`}`,
  () => {
    let lab: Lab;
    let dataDir: string;

    beforeAll(async () => {
      lab = await Lab.open();
      await lab.importImage(await lab.imageTar("big.tar", "--pad", String(PAD_MB)), "local-big:1");
      await lab.importImage(await lab.imageTar("bare.tar", "--without-supervisor"), "bare:1");
    }, 240_000);

    afterEach(async () => {
      await eventually("no container left", async () => (await lab.containers()).length === 0);
      await eventually("no process left", async () => (await lab.processes()).length === 0);
    });

    afterAll(async () => lab.close());

    /** A launch over a data directory of its own, so that its image is not there yet. */
    const cold = async (
      sent: Partial<Sent> = {},
      onReport?: (report: DriverProgress, launch: Launch) => void,
    ): Promise<Launch> => {
      dataDir = await lab.dataDir();
      return warm(sent, onReport);
    };

    const warm = (
      sent: Partial<Sent> = {},
      onReport?: (report: DriverProgress, launch: Launch) => void,
    ): Launch => {
      const request = requestOf({ image: "local-big:1", url: "http://127.0.0.1:9", ...sent });
      return new Launch(lab.driver(dataDir), request, onReport);
    };

    const flows = ({ step, position = 0 }: DriverProgress): boolean => step === "image" && position > 0;

    /** What is left of a sandbox that was cleaned up before its machine: nothing, neither here nor in the cache. */
    const nothingLeft = async (): Promise<void> => expect(await filesIn(dataDir)).toEqual([]);

    it(
      "names the image that was asked for, shows its bytes, and is not ready before its file system is",
      async () => {
        let readyAt = -1;
        const letGo = lab.holdExports();
        const launch = await cold({}, (report, { reports }) => {
          if (report.step !== "image" || report.done !== true) return;
          readyAt = reports.length;
        });
        const bytes = (): number => Math.max(0, ...launch.step("image").map(({ position = 0 }) => position));
        await eventually("bytes", () => Promise.resolve(bytes() > 0));
        // It stands in its middle, and what is there so far is told.
        const before = bytes();
        lab.passExports(50_000_000);
        await eventually("more bytes", () => Promise.resolve(bytes() > before)).finally(letGo);
        await launch.result;
        const [first] = launch.reports;
        expect(first).toMatchObject({
          step: "image",
          label: "Image exported from local Docker",
          subject: "local-big:1",
        });
        const image = launch.step("image");
        const positions = image.map(({ position = 0 }) => position);
        expect(positions).toEqual([...positions].sort((a, b) => a - b));
        expect(new Set(positions).size).toBeGreaterThan(2);
        // Before the end nobody knows how long the export will be, and nobody claims to.
        expect(image.slice(0, -1).every(({ total }) => total === undefined)).toBe(true);
        expect(image.at(-1)).toMatchObject({
          done: true,
          position: positions.at(-1),
          total: positions.at(-1),
        });
        expect(positions.at(-1)).toBeGreaterThan(PAD_MB * 1_000_000);
        expect(readyAt).toBe(launch.reports.indexOf(image.at(-1)!) + 1);
        expect(launch.reports.slice(readyAt).map(({ step, done }) => [step, done === true])).toEqual([
          ["disk", false],
          ["disk", true],
          ["machine", false],
          ["machine", true],
        ]);
        await lab.driver(dataDir).remove(launch.request.sandbox, context);
        expect(await filesIn(dataDir)).toEqual([
          expect.stringMatching(/^images\/[0-9a-f]{32}\.json$/),
          expect.stringMatching(/^images\/[0-9a-f]{32}\.sqfs$/),
        ]);
      },
      LIMIT_MS,
    );

    it(
      "two creates of one uncached image export it once, and the second one shows whom it waits for",
      async () => {
        const creates: string[] = [];
        const events = await lab.docker.getEvents({
          filters: { event: ["export"] },
        });
        events.on("data", (chunk: Buffer) => creates.push(String(chunk)));
        const letGo = lab.holdExports();
        const first = await cold({ name: "first" });
        await eventually("the first one exports", () => Promise.resolve(first.reports.some(flows)));
        const second = warm({ name: "second" });
        await eventually("the second one waits", () =>
          Promise.resolve(second.step("image-wait-1").length > 0),
        ).finally(letGo);
        await Promise.all([first.result, second.result]);
        (events as unknown as { destroy: () => void }).destroy();
        expect(creates).toHaveLength(1);
        const waits = second.step("image-wait-1");
        expect(second.reports[0]).toEqual(waits[0]);
        expect(waits[0]).toMatchObject({
          activeLabel: "Waiting for image, which sandbox first is packing",
          waiting: true,
          subject: "local-big:1",
        });
        expect(waits.at(-1)).toMatchObject({ done: true });
        expect(second.step("image")).toEqual([
          expect.objectContaining({ label: "Image reused", done: true }),
        ]);
        for (const { request } of [first, second]) await lab.driver(dataDir).remove(request.sandbox, context);
        expect((await filesIn(join(dataDir, "images"))).filter((name) => name.endsWith(".lock"))).toEqual([]);
      },
      LIMIT_MS,
    );

    it(
      "who waits takes over when the one that exports gives up",
      async () => {
        const letGo = lab.holdExports();
        const first = await cold({ name: "first" });
        await eventually("the first one exports", () => Promise.resolve(first.reports.some(flows)));
        const second = warm({ name: "second" });
        await eventually("the second one waits", () =>
          Promise.resolve(second.step("image-wait-1").length > 0),
        ).finally(letGo);
        first.controller.abort(new Error("deleted"));
        await expect(first.result).rejects.toThrow("deleted");
        await second.result;
        expect(second.step("image").at(-1)).toMatchObject({
          label: "Image exported from local Docker",
          done: true,
        });
        for (const { request } of [first, second]) await lab.driver(dataDir).remove(request.sandbox, context);
      },
      LIMIT_MS,
    );

    it(
      "a delete in the middle of an export leaves nothing",
      async () => {
        const letGo = lab.holdExports();
        const launch = await cold();
        await eventually("it exports", () => Promise.resolve(launch.reports.some(flows)));
        launch.controller.abort(new Error("deleted"));
        await expect(launch.result).rejects.toThrow("deleted");
        letGo();
        await lab.driver(dataDir).remove(launch.request.sandbox, context);
        await nothingLeft();
      },
      LIMIT_MS,
    );

    it(
      "an engine that stands still is left behind, and its container goes when it moves again",
      async () => {
        const letGo = lab.holdExports();
        const launch = await cold();
        await eventually("it exports", () => Promise.resolve(launch.reports.some(flows)));
        const thaw = lab.freezeEngine();
        letGo();
        launch.controller.abort(new Error("stalled"));
        await expect(launch.result).rejects.toThrow("stalled");
        const { sandbox } = launch.request;
        const driver = lab.driver(dataDir);
        // What the engine has to do is not forgotten: the cleanup says that it is not done.
        await expect(driver.cleanUp(sandbox, context)).rejects.toThrow("The Docker engine failed");
        expect(await filesIn(dataDir)).toEqual([`sandboxes/${sandbox.id}/staging/1.1/export.json`]);
        expect(await driver.observe(sandbox, {})).toMatchObject({ bootstrapping: false, running: false });
        thaw();
        await driver.cleanUp(sandbox, context);
        await driver.remove(sandbox, context);
        await nothingLeft();
      },
      LIMIT_MS,
    );

    it(
      "an engine that is killed in the middle fails the launch, not for good, and nothing half is kept",
      async () => {
        const letGo = lab.holdExports();
        const launch = await cold();
        await eventually("it exports", () => Promise.resolve(launch.reports.some(flows)));
        await lab.killEngine();
        letGo();
        await expect(launch.result).rejects.not.toHaveProperty("name", "PermanentDriverError");
        expect(await filesIn(join(dataDir, "images"))).toEqual([]);
        await lab.startEngine();
        // The same sandbox, a later run: what the one before left in the engine goes first.
        const again = warm({ sandbox: launch.request.sandbox, run: 2 });
        await again.result;
        expect(await lab.containers()).toEqual([]);
        await lab.driver(dataDir).remove(launch.request.sandbox, context);
      },
      LIMIT_MS,
    );

    it(
      "a full disk fails the launch, not for good, and gives its room back",
      async () => {
        dataDir = await lab.dataDir();
        const file = join(lab.dir, "small.img");
        await writeFile(file, "");
        await truncate(file, 160_000_000);
        await run("mke2fs", ["-q", "-F", "-t", "ext4", file]);
        await run("mount", ["-o", "loop", file, dataDir]);
        try {
          const launch = warm();
          await expect(launch.result).rejects.toThrow("No space left on device");
          await expect(launch.result).rejects.not.toHaveProperty("name", "PermanentDriverError");
          await lab.driver(dataDir).remove(launch.request.sandbox, context);
          expect((await readdir(dataDir)).filter((name) => name !== "lost+found").sort()).toEqual([
            "images",
            "sandboxes",
          ]);
          await nothingLeft();
        } finally {
          await run("umount", [dataDir]);
        }
      },
      LIMIT_MS,
    );

    it.each([
      [
        "an image that does not exist",
        "nobody/has-this:1",
        "MachineImageNotFound",
        /no image nobody\/has-this:1/,
      ],
      ["an image without a supervisor", "bare:1", "MachineSupervisorMissing", /bare:1 .*supervisor\.mjs/],
      ["no archive at the path", { name: "box", path: "/nowhere/box.tar" }, "MachineImageNotFound", /ENOENT/],
      ["a directory as an archive", { name: "box", path: "/usr" }, "MachineImageUnusable", /no tar archive/],
    ])(
      "%s is a permanent failure with its reason",
      async (_what, image, reason, message) => {
        const launch = await cold({ image });
        await expect(launch.result).rejects.toMatchObject({ name: "PermanentDriverError", reason });
        await expect(launch.result).rejects.toThrow(message);
        await lab.driver(dataDir).remove(launch.request.sandbox, context);
        await nothingLeft();
      },
      LIMIT_MS,
    );

    it.each([
      ["cut between two entries", async (file: string) => truncate(file, 512 * 64)],
      ["cut in the middle of a file", async (file: string) => truncate(file, 40_000_000)],
      ["no tar at all", async (file: string) => writeFile(file, "hello".repeat(10_000))],
      ["empty", async (file: string) => truncate(file, 0)],
    ])(
      "an archive that is %s is a permanent failure",
      async (_what, spoil) => {
        dataDir = await lab.dataDir();
        const path = join(dataDir, "..", "spoiled.tar");
        await run("cp", [join(lab.dir, "bare.tar"), path]);
        await spoil(path);
        const launch = warm({ image: { name: "spoiled", path } });
        await expect(launch.result).rejects.toMatchObject({ reason: "MachineImageUnusable" });
        await lab.driver(dataDir).remove(launch.request.sandbox, context);
        await nothingLeft();
      },
      LIMIT_MS,
    );
  },
);
