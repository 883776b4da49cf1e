import { readStartMarker, type SandboxView } from "@slipway-examples/gateway-core";
import { eventually, StartedGateway, TempDirs } from "@slipway-examples/gateway-core/testing";
import { execFile, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HeldArchive, PackingDriver } from "./packing-driver.js";

const run = promisify(execFile);
const LIMIT_MS = 120_000;

const missing = ["sqfstar", "unsquashfs", "tar"].filter((tool) => {
  const env = { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` };
  return spawnSync(tool, ["--help"], { env }).error !== undefined;
});
const whyNot = missing.length === 0 ? null : `not installed: ${missing.join(", ")}`;
if (whyNot !== null) console.warn(`skipped: ${whyNot}`);

/** A whole gateway with a driver of a test: neither an engine nor QEMU is needed for who waits for whom. */
describe.skipIf(whyNot !== null)(
  `one image for several sandboxes${whyNot === null ? "" : ` (${whyNot})`}`,
  () => {
    const temp = new TempDirs();
    let archive: HeldArchive;
    let driver: PackingDriver;
    let gateway: StartedGateway;
    let dir: string;

    beforeEach(async () => {
      dir = await temp.make();
      const rootfs = join(dir, "rootfs");
      for (const [file, text] of [
        ["opt/slipway/supervisor.mjs", ""],
        ["usr/local/bin/node", ""],
        ["data", "slipway ".repeat(500_000)],
      ] as const) {
        await mkdir(join(rootfs, file, ".."), { recursive: true });
        await writeFile(join(rootfs, file), text);
      }
      const tar = join(dir, "image.tar");
      await run("tar", ["-c", "-C", rootfs, "-f", tar, "data", "opt", "usr"]);
      archive = new HeldArchive(await readFile(tar));
      driver = new PackingDriver(join(dir, "packing"), archive);
      gateway = await StartedGateway.start({ drivers: [driver], dataDir: join(dir, "data") });
    });

    afterEach(async () => {
      archive.letGo();
      await gateway.removeAll(LIMIT_MS);
      await gateway.close();
      await temp.remove();
    });

    const create = async (name: string): Promise<string> =>
      (await gateway.client.create({ name, image: { name: "local-big:1" }, command: ["work"] })).id;
    const until = (id: string, is: (view: SandboxView) => boolean): Promise<SandboxView> =>
      gateway.until(id, is, LIMIT_MS);
    const stepOf = ({ steps }: SandboxView, name: string) => steps.find(({ step }) => step === name);

    /** Speaks as the supervisor inside. */
    const becomeReady = async (id: string): Promise<SandboxView> => {
      const { access, instance } = await eventually(
        "the start",
        () => Promise.resolve(driver.started(id)),
        LIMIT_MS,
      );
      for (const kind of ["accepted", "ready"] as const)
        await gateway.gateway.report(id, access.token, instance.run, { kind, generation: 1 });
      return until(id, ({ phase }) => phase === "Ready");
    };

    const onlyTheImage = async (): Promise<void> => {
      const names = (await readdir(driver.images)).map((name) => name.replace(/^[0-9a-f]{32}/, ""));
      expect(names.sort()).toEqual([".json", ".sqfs"]);
    };

    it("is exported once: the other shows whom it waits for on nobody's budget, and both become Ready", {
      timeout: LIMIT_MS,
    }, async () => {
      const first = await create("first");
      await until(first, (view) => stepOf(view, "image")?.status === "running");
      const second = await create("second");
      const waiting = await until(second, ({ deadline }) => deadline?.pausedAt !== null);
      expect(stepOf(waiting, "image-wait-1")).toMatchObject({
        activeLabel: "Waiting for image, which sandbox first is packing",
        subject: "local-big:1",
        unit: "bytes",
        status: "running",
        percent: null,
      });
      expect(stepOf(waiting, "image")).toMatchObject({ status: "waiting", position: null });
      expect(waiting.deadline).toMatchObject({
        limitedBy: "phase-ceiling",
        bounds: { budget: null, stall: null },
      });
      archive.letGo();
      const [one, two] = [await becomeReady(first), await becomeReady(second)];
      expect(archive.opened).toBe(1);
      expect(one.steps.map(({ label, finished }) => [label, finished])).toEqual([
        ["Image exported from local Docker", true],
      ]);
      expect(two.steps.map(({ label, finished }) => [label, finished])).toEqual([
        ["Waited for image, which sandbox first was packing", true],
        ["Image reused", true],
      ]);
      expect(stepOf(one, "image")?.position).toBeGreaterThan(4_000_000);
      await onlyTheImage();
    });

    it("is exported by the next one when the one that exports is deleted", {
      timeout: LIMIT_MS,
    }, async () => {
      const first = await create("first");
      await until(first, (view) => stepOf(view, "image")?.status === "running");
      const second = await create("second");
      await until(second, ({ deadline }) => deadline?.pausedAt !== null);
      await gateway.client.delete(first);
      const owns = await until(second, (view) => stepOf(view, "image")?.status === "running");
      expect(owns.deadline).toMatchObject({ pausedAt: null, phase: "preparation" });
      expect(stepOf(owns, "image-wait-1")).toMatchObject({ finished: true });
      archive.letGo();
      const ready = await becomeReady(second);
      expect(stepOf(ready, "image")?.label).toBe("Image exported from local Docker");
      expect(archive.opened).toBe(2);
      await onlyTheImage();
    });

    it("is exported by the one that waits when another gateway's process is killed in the middle of it", {
      timeout: LIMIT_MS,
    }, async () => {
      // A cold start tells how the lock is called; then the image is removed, and somebody else packs it.
      archive.letGo();
      await becomeReady(await create("scout"));
      const [image = ""] = (await readdir(driver.images)).filter((name) => name.endsWith(".sqfs"));
      await run("rm", [join(driver.images, image)]);
      const holder = await otherGateway(join(driver.images, `${image}.lock`));
      try {
        const second = await create("second");
        const named = "Waiting for image, which sandbox theirs is packing";
        const waiting = await until(second, ({ deadline }) => deadline?.pausedAt !== null);
        expect(stepOf(waiting, "image-wait-1")).toMatchObject({ activeLabel: named });
        await appendFile(holder.file, "x".repeat(5000));
        // What it has grown to is the sign that it lives, and the position of the wait.
        await until(second, (view) => stepOf(view, "image-wait-1")?.position === 5000);
        const gone = once(holder.child, "exit");
        holder.child.kill("SIGKILL");
        await gone;
        const ready = await becomeReady(second);
        expect(ready.steps.map(({ label, finished }) => [label, finished])).toEqual([
          ["Waited for image, which sandbox theirs was packing", true],
          ["Image exported from local Docker", true],
        ]);
        expect(ready.attempt).toBe(1);
        await onlyTheImage();
      } finally {
        holder.child.kill("SIGKILL");
      }
    });

    /** A process that holds the lock of an image, as another gateway would, and packs nothing. */
    const otherGateway = async (lock: string): Promise<{ child: ChildProcess; file: string }> => {
      const child = spawn("sleep", ["1000"], { stdio: "ignore" });
      await once(child, "spawn");
      const file = join(dir, "theirs.sqfs");
      await writeFile(file, "");
      const startMarker = await readStartMarker(child.pid!);
      await writeFile(
        lock,
        JSON.stringify({ token: "theirs", pid: child.pid, startMarker, sandbox: "theirs", file }),
      );
      return { child, file };
    };
  },
);
