import { HeldDoor, TempDirs } from "@slipway-examples/gateway-core/testing";
import { PermanentDriverError, type DriverProgress, type ImageSpec } from "@slipway-examples/gateway-core";
import { systemClock } from "slipway";
import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectEngine } from "../src/engine.js";
import { EngineImages } from "../src/image/engine-images.js";
import { packSandboxImage } from "../src/guest/sandbox-image.js";
import { until, untilTrue } from "./driver-bench.js";
import { TestEngine, whyNoEngine } from "./engine.js";
import { TestRegistry } from "./registry.js";

const run = promisify(execFile);

/** One who asks for an image, and what it was told. */
class Asker {
  readonly reports: DriverProgress[] = [];
  readonly controller = new AbortController();
  readonly #images: EngineImages;

  constructor(images: EngineImages) {
    this.#images = images;
  }

  ask(image: ImageSpec, pull?: "missing" | "always" | "never"): Promise<unknown> {
    const report = (progress: DriverProgress): void => void this.reports.push(progress);
    const asked = this.#images.prepare(image, pull, { signal: this.controller.signal, report });
    asked.catch(() => undefined);
    return asked;
  }

  /** The reports of one step, in order. */
  of(step: string): DriverProgress[] {
    return this.reports.filter((report) => report.step === step);
  }

  bytes(step: string): number {
    return Math.max(0, ...this.of(step).map(({ position }) => position ?? 0));
  }
}

describe.skipIf(whyNoEngine !== null)(
  `images in a real engine (${whyNoEngine ?? "dockerd"})`,
  { timeout: 240_000 },
  () => {
    const temp = new TempDirs();
    let engine: TestEngine;
    let registry: TestRegistry;
    let images: EngineImages;
    const asker = (): Asker => new Asker(images);

    beforeAll(async () => {
      engine = await TestEngine.start();
      registry = await TestRegistry.start();
      images = new EngineImages(engine.docker, systemClock);
    });
    afterAll(async () => {
      await engine.remove();
      await registry.close();
      await temp.remove();
    });

    const nothingStaged = (): Promise<true> =>
      until(async () => ((await engine.staging()).length === 0 ? true : null));

    it("pulls with the bytes of every layer, and is done when the engine has it", async () => {
      const reference = await registry.add("two-layers", [3_000_000, 2_000_000]);
      const letGo = registry.hold();
      const at = asker();
      const pulled = at.ask({ name: reference });
      await untilTrue(() => at.bytes("download") > 0);
      expect(at.of("image")).toEqual([]);
      expect(at.of("download").some(({ done }) => done === true)).toBe(false);
      letGo();
      const image = (await pulled) as { id: string; bytes: number };
      expect(image.bytes).toBe(5_000_000);
      expect((await engine.docker.getImage(reference).inspect()).Id).toBe(image.id);
      const ends = at.reports.filter(({ done }) => done === true);
      expect(ends.map(({ step, label, subject }) => ({ step, label, subject }))).toEqual(
        expect.arrayContaining([
          { step: "download", label: "Image downloaded", subject: reference },
          { step: "image", label: "Image pulled", subject: reference },
        ]),
      );
      expect(at.reports.at(-1)).toMatchObject({ step: "image", done: true });
      // The layers are tars, a little larger than what is in them.
      expect(at.bytes("download")).toBeGreaterThan(5_000_000);
      expect(at.bytes("download")).toBeLessThan(5_020_000);
      expect(at.bytes("image")).toBe(at.bytes("download"));
    });

    it("asks the registry once for two who want one image, and again only for one who wants it fresh", async () => {
      const reference = await registry.add("wanted-twice", [2_000_000]);
      const letGo = registry.hold();
      const [one, two] = [asker(), asker()];
      const asked = [one.ask({ name: reference }), two.ask({ name: reference })];
      const bytes = (of: typeof one): number => of.bytes("download") + of.bytes("download-wait");
      await untilTrue(() => bytes(one) > 0 && bytes(two) > 0);
      letGo();
      const [first, second] = await Promise.all(asked);
      expect(first).toEqual(second);
      // It is the work of one of them; for the other it is a wait, with a step of its own, and then the image is there.
      const waited = [one, two].filter(({ reports }) => reports.some(({ waiting }) => waiting === true));
      expect(waited).toHaveLength(1);
      const steps = waited[0]!.reports.map(({ step, waiting = false }) => `${step} ${waiting}`);
      expect([...new Set(steps)]).toEqual(["download-wait true", "image-wait true", "image false"]);
      expect(waited[0]!.reports.at(-1)).toMatchObject({ label: "Image found in the engine", done: true });
      const manifests = (): string[] =>
        registry.requests.filter((line) => line.includes(" /v2/wanted-twice/manifests/"));
      expect(manifests().filter((line) => line.startsWith("GET")).length).toBe(1);
      for (const { reports } of [one, two])
        expect(reports.at(-1)).toMatchObject({ step: "image", subject: reference, done: true });

      const third = asker();
      await third.ask({ name: reference });
      expect(third.reports).toMatchObject([
        { step: "image", label: "Image found in the engine", done: true },
      ]);
      expect(manifests().filter((line) => line.startsWith("GET")).length).toBe(1);
      const before = manifests().length;
      await asker().ask({ name: reference }, "always");
      expect(manifests().length).toBeGreaterThan(before);
    });

    it("goes on for one when the other leaves, and gives up when both have, leaving nothing", async () => {
      const reference = await registry.add("given-up", [4_000_000]);
      const letGo = registry.hold();
      const [one, two] = [asker(), asker()];
      const [first, second] = [one.ask({ name: reference }), two.ask({ name: reference })];
      await untilTrue(() => two.bytes("download") + two.bytes("download-wait") > 0);
      one.controller.abort(new Error("deleted"));
      await expect(first).rejects.toThrow("deleted");
      // What it may have waited for is its own now.
      await untilTrue(() => two.reports.at(-1)?.step === "download" && two.reports.at(-1)?.waiting !== true);
      expect(await images.find(reference, two.controller.signal)).toBeNull();
      two.controller.abort(new Error("deleted too"));
      await expect(second).rejects.toThrow("deleted too");
      letGo();
      await nothingStaged();
      expect(await images.find(reference, new AbortController().signal)).toBeNull();
      // Nothing of what was given up is in the way of a third.
      await expect(asker().ask({ name: reference })).resolves.toMatchObject({ bytes: 4_000_000 });
    });

    it("refuses for good what the registry does not have, and tries again where nobody answers", async () => {
      const missing = asker().ask({ name: `${registry.host}/nothing-here:1` });
      await expect(missing).rejects.toMatchObject({
        name: "PermanentDriverError",
        reason: "ImagePullFailed",
      });
      const nobody = await asker()
        .ask({ name: "127.0.0.1:9/nobody/listens:1" })
        .catch((error: unknown) => error);
      expect(nobody).not.toBeInstanceOf(PermanentDriverError);
      expect(nobody).toMatchObject({ message: expect.stringContaining("127.0.0.1:9/nobody/listens:1") });
    });

    it("imports an archive once for all, with its bytes, and again when it has changed", async () => {
      const path = join(await temp.make(), "rootfs.tar");
      await pipeline(
        packSandboxImage({ busybox: null, supervisor: false, fillerBytes: 200_000_000 }),
        createWriteStream(path),
      );
      const { size } = await stat(path);
      const image = { name: "local-big:1", path };
      // However fast an import is: this one stands in its middle until both ask for it.
      const door = await HeldDoor.open(`${engine.dir}/docker.sock`, join(await temp.make(), "door.sock"));
      door.hold(20_000_000);
      const held = new EngineImages(connectEngine(`unix://${door.path}`), systemClock);
      const [one, two] = [new Asker(held), new Asker(held)];
      const asked = [one.ask(image), two.ask(image)];
      const bytes = (of: Asker): number => Math.max(of.bytes("image"), of.bytes("image-wait"));
      await untilTrue(() => bytes(one) >= 20_000_000 && bytes(two) >= 20_000_000);
      door.letGo();
      const [first, second] = await Promise.all(asked);
      door.close();
      expect(first).toEqual(second);
      const importing = [one, two].find(({ reports }) => reports.every(({ waiting }) => waiting !== true))!;
      const positions = importing.of("image").map(({ position }) => position ?? 0);
      expect(positions).toEqual([...positions].sort((a, b) => a - b));
      expect(positions.filter((position) => position > 0 && position < size).length).toBeGreaterThan(0);
      expect(importing.reports.at(-1)).toMatchObject({
        subject: "local-big:1",
        position: size,
        total: size,
        done: true,
      });
      expect((await engine.remains()).dangling).toBe(0);

      const again = asker();
      expect(await again.ask(image)).toEqual(first);
      expect(again.reports).toMatchObject([{ label: "Image imported before", subject: "local-big:1" }]);
      await utimes(path, 1, 1);
      const changed = asker();
      await changed.ask(image);
      expect(changed.reports.at(-1)).toMatchObject({ label: "Image imported from archive" });
    });

    it("leaves nothing of an import that is given up in the middle, also when the engine hangs", async () => {
      const path = join(await temp.make(), "rootfs.tar");
      await pipeline(
        packSandboxImage({ busybox: null, supervisor: false, fillerBytes: 400_000_000 }),
        createWriteStream(path),
      );
      const ids = async (): Promise<string[]> =>
        (await engine.docker.listImages()).map(({ Id }) => Id).sort();
      const before = await ids();
      const door = await HeldDoor.open(`${engine.dir}/docker.sock`, join(await temp.make(), "door.sock"));
      door.hold(10_000_000);
      const at = new Asker(new EngineImages(connectEngine(`unix://${door.path}`), systemClock));
      const asked = at.ask({ name: "given-up:1", path });
      await untilTrue(() => at.bytes("image") >= 10_000_000);
      const goOn = engine.freeze();
      door.letGo();
      try {
        at.controller.abort(new Error("its time is over"));
        await expect(asked).rejects.toThrow("its time is over");
        expect(at.reports.some(({ done }) => done === true)).toBe(false);
      } finally {
        goOn();
        door.close();
      }
      await nothingStaged();
      expect(await ids()).toEqual(before);
    });

    it("takes a full disk as something that may pass, leaves nothing on it, and goes on once there is room", async () => {
      const small = await TestEngine.onSmallDisk(150);
      try {
        const there = new EngineImages(small.docker, systemClock);
        const path = join(await temp.make(), "rootfs.tar");
        await pipeline(
          packSandboxImage({ busybox: null, supervisor: false, fillerBytes: 100_000_000 }),
          createWriteStream(path),
        );
        const hog = join(small.dir, "data", "hog");
        await run("fallocate", ["-l", "60M", hog]);
        const failure = await new Asker(there)
          .ask({ name: "too-big:1", path })
          .catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(Error);
        expect(failure).not.toBeInstanceOf(PermanentDriverError);
        expect(String(failure)).toMatch(/no space left/);
        expect(await small.remains()).toEqual({ containers: [], volumes: [], dangling: 0 });
        await run("rm", [hog]);
        const image = (await new Asker(there).ask({ name: "too-big:1", path })) as { bytes: number };
        expect(image.bytes).toBeGreaterThan(100_000_000);
      } finally {
        await small.remove();
      }
    });

    it("gets an image in the end when the engine is killed in the middle and comes back", async () => {
      const reference = await registry.add("interrupted", [3_000_000]);
      const letGo = registry.hold();
      const at = asker();
      const asked = at.ask({ name: reference });
      await untilTrue(() => at.bytes("download") > 0);
      await engine.kill();
      const failure = await asked.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Error);
      expect(failure).not.toBeInstanceOf(PermanentDriverError);
      letGo();
      await engine.start();
      await expect(asker().ask({ name: reference })).resolves.toMatchObject({ bytes: 3_000_000 });
      await nothingStaged();
    });
  },
);
