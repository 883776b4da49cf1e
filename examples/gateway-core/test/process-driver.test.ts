import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import type { LaunchRequest } from "../src/driver/driver.js";
import type { ProcessDriver } from "../src/driver/process-driver.js";
import { isAlive, type ProcessIdentity } from "../src/driver/process-identity.js";
import type { JsonObject } from "../src/record/json.js";
import { eventually } from "../src/testing/eventually.js";
import { pathsBelow, tarImage } from "./images.js";
import { BYTES, launchOn, ProcessDriverBench, sandbox, work } from "./process-driver-bench.js";
import { seededRandom } from "./random.js";

let bench: ProcessDriverBench;
let dir: string;
let image: string;
let driver: ProcessDriver;

beforeEach(async () => {
  bench = await ProcessDriverBench.open();
  ({ dir, image, driver } = bench);
});

const request = (options?: JsonObject, path?: string, run?: number) => bench.request(options, path, run);
const launch = (of: LaunchRequest, signal?: AbortSignal) => launchOn(driver, of, signal);
const staged = () => bench.staged();

describe("a launch", () => {
  it("copies the image with rising positions of a known total, and starts the supervisor", async () => {
    const { handle, reports } = launch(request());
    const identity = (await handle) as unknown as ProcessIdentity;
    expect(await isAlive(identity)).toBe(true);
    const positions = reports.filter(({ step }) => step === "image").map(({ position }) => position ?? -1);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(reports.find(({ done }) => done)).toMatchObject({
      subject: "demo-image",
      position: BYTES,
      total: BYTES,
    });
    const rootfs = join(dir, "sandboxes", sandbox.id, "image", "rootfs");
    expect(await pathsBelow(rootfs)).toEqual(await pathsBelow(image));
    expect((await stat(join(rootfs, "bin", "tool"))).mode & 0o777).toBe(0o755);
    expect(await staged()).toEqual([]);
    await driver.cleanUp(sandbox, work);
    expect(await isAlive(identity)).toBe(false);
  });

  it("is ended and cleaned up by whom it is meant for, and by nobody who was held up since an earlier one", async () => {
    const identity = (await launch(request({}, image, 2)).handle) as unknown as ProcessIdentity;
    await mkdir(join(dir, "sandboxes", sandbox.id, "staging", "1.3"), { recursive: true });
    const earlier = { ...work, upTo: { attemptNumber: 1, run: 1 } };
    await driver.stop(sandbox, earlier);
    await driver.cleanUp(sandbox, earlier);
    expect(await isAlive(identity)).toBe(true);
    await driver.cleanUp(sandbox, { ...work, upTo: { attemptNumber: 1, run: 2 } });
    expect(await isAlive(identity)).toBe(false);
    expect(await staged()).toEqual(["1.3"]);
    await driver.cleanUp(sandbox, work);
    expect(await staged()).toEqual([]);
  });

  it("does not copy again what is there, and does when the source changed", async () => {
    await launch(request()).handle;
    const again = launch(request({}, image, 2));
    await again.handle;
    expect(again.reports[0]).toMatchObject({ label: "Image reused", done: true });
    await delay(20);
    await writeFile(join(image, "new"), "x");
    const changed = launch(request({}, image, 3));
    await changed.handle;
    expect(changed.reports.find(({ done }) => done)).toMatchObject({
      label: "Image copied",
      position: BYTES + 1,
    });
    await driver.remove(sandbox, work);
    expect(await readdir(join(dir, "sandboxes"))).toEqual([]);
  });

  it("sees a change deep inside the image, of content and of nothing but the mode", async () => {
    await launch(request()).handle;
    const rootfs = join(dir, "sandboxes", sandbox.id, "image", "rootfs");
    const before = await stat(image);
    // As long as before: the size of nothing changes.
    await writeFile(join(image, "share", "data"), Buffer.alloc(BYTES / 2, "c"));
    expect((await stat(image)).mtimeMs).toBe(before.mtimeMs);
    await launch(request({}, image, 2)).handle;
    expect((await readFile(join(rootfs, "share", "data"), "utf8")).slice(0, 3)).toBe("ccc");
    await chmod(join(image, "bin", "tool"), 0o700);
    await launch(request({}, image, 3)).handle;
    expect((await stat(join(rootfs, "bin", "tool"))).mode & 0o777).toBe(0o700);
    await driver.remove(sandbox, work);
  });

  it("removes what a killed run had staged, also when the image is reused", async () => {
    await launch(request()).handle;
    const home = join(dir, "sandboxes", sandbox.id);
    await mkdir(join(home, "staging", "1.1", "rootfs"), { recursive: true });
    const again = launch(request({}, image, 2));
    await again.handle;
    expect(again.reports[0]).toMatchObject({ label: "Image reused" });
    expect(await readdir(home)).not.toContain("staging");
    await driver.remove(sandbox, work);
  });

  it("unpacks an archive", async () => {
    const archive = join(dir, "image.tar.gz");
    await tarImage(archive, [{ name: "bin/tool", content: "x".repeat(10_000) }]);
    const { handle, reports } = launch(request({}, archive));
    await handle;
    expect(reports.find(({ done }) => done)).toMatchObject({ label: "Image unpacked" });
    await driver.remove(sandbox, work);
  });

  it("leaves nothing staged and starts nothing when it is aborted, at whatever instant", async () => {
    const random = seededRandom(7);
    for (let round = 0; round < 25; round += 1) {
      const controller = new AbortController();
      const reason = new Error(`aborted in round ${round}`);
      const { handle } = launch(request({ bytesPerSecond: 20_000_000 }), controller.signal);
      const settled = handle.then(
        () => "started",
        (error: unknown) => error,
      );
      await delay(random() * 120);
      controller.abort(reason);
      const outcome = await settled;
      expect(await staged(), `staging after round ${round}`).toEqual([]);
      if (outcome === "started") await driver.cleanUp(sandbox, work);
      else expect(outcome).toBe(reason);
      await driver.remove(sandbox, work);
    }
  });

  it("stops at the byte at which it was told to stall, and keeps to its rate", async () => {
    const controller = new AbortController();
    const startedAt = Date.now();
    const { handle, reports } = launch(
      request({ bytesPerSecond: 4_000_000, fault: { stallAtBytes: 1_000_001, repeatReports: true } }),
      controller.signal,
    );
    handle.catch(() => undefined);
    await eventually("the stall", async () => Promise.resolve(reports.at(-1)?.position === 1_000_001));
    expect(Date.now() - startedAt).toBeGreaterThan(200);
    const count = reports.length;
    await eventually("a repetition", async () => Promise.resolve(reports.length > count));
    expect(reports.at(-1)?.position).toBe(1_000_001);
    controller.abort(new Error("enough"));
    await expect(handle).rejects.toThrow("enough");
  });
});

describe("removing a sandbox", () => {
  // The superuser may remove it anyway; then this shows no more than that it is removed.
  it("removes also what a workload closed to its owner", async () => {
    const closed = join(dir, "sandboxes", sandbox.id, "workspace", "closed");
    await mkdir(join(closed, "inner"), { recursive: true });
    await writeFile(join(closed, "inner", "file"), "x");
    await chmod(join(closed, "inner"), 0o500);
    await chmod(closed, 0o000);
    await driver.remove(sandbox, work);
    expect(await readdir(join(dir, "sandboxes"))).toEqual([]);
  });
});

describe("a start that was overtaken", () => {
  const at = (attemptNumber: number, run: number, options: JsonObject = {}): LaunchRequest => ({
    ...request(options),
    instance: { id: `instance-${attemptNumber}-${run}`, attemptNumber, run },
  });

  it("ends nothing and replaces nothing, though its image differs", async () => {
    const newer = (await launch(at(2, 1)).handle) as unknown as ProcessIdentity;
    const home = join(dir, "sandboxes", sandbox.id);
    await mkdir(join(home, "staging", "2.2"), { recursive: true });
    await writeFile(join(image, "new"), "x");
    // Runs are counted from the start of their attempt: the attempt decides first.
    const older = launch(at(1, 5));
    await expect(older.handle).rejects.toThrow("run 5 of attempt 1 was overtaken by run 1 of attempt 2");
    expect(await isAlive(newer)).toBe(true);
    expect(await pathsBelow(join(home, "image", "rootfs"))).not.toContain("new");
    expect(await staged()).toEqual(["2.2"]);
    await launch(at(2, 2)).handle;
    expect(await isAlive(newer)).toBe(false);
    await driver.remove(sandbox, work);
  });

  it("gives up also when it is overtaken in the middle of the copy", async () => {
    const older = launch(at(1, 1, { bytesPerSecond: 4_000_000 }));
    const failure = older.handle.catch((error: unknown) => error);
    await eventually("its copy", async () => (await staged()).includes("1.1"));
    const newer = (await launch(at(1, 2)).handle) as unknown as ProcessIdentity;
    expect(await failure).toBeInstanceOf(Error);
    expect(older.reports.map(({ step }) => step)).not.toContain("supervisor");
    expect(await isAlive(newer)).toBe(true);
    const run = { instanceId: at(1, 2).instance.id };
    expect(await driver.observe(sandbox, run, null)).toMatchObject({ running: true, stale: false });
    await driver.remove(sandbox, work);
  });
});

describe("a create request", () => {
  it("is checked field by field", async () => {
    const spec = { name: "x", path: image };
    const bad: [Parameters<ProcessDriver["check"]>, string][] = [
      [[{ ...spec, path: "relative" }, {}], "image.path"],
      [[{ ...spec, path: join(dir, "missing") }, {}], "image.path"],
      [[{ ...spec, include: ["bin", "../x"] }, {}], "image.include[1]"],
      [[spec, { bytesPerSecond: 0 }], "driverOptions.bytesPerSecond"],
      [[spec, { fault: { stallAtBytes: -1 } }], "driverOptions.fault.stallAtBytes"],
      [[spec, { fault: { stalAtBytes: 1 } }], "driverOptions.fault.stalAtBytes"],
    ];
    for (const [args, field] of bad) await expect(driver.check(...args)).rejects.toMatchObject({ field });
    await expect(driver.check(spec, {})).resolves.toBeUndefined();
  });
});
