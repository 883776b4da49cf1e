import { systemClock } from "slipway";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { DriverProgress, LaunchRequest } from "../src/driver/driver.js";
import { ProcessDriver } from "../src/driver/process-driver.js";
import { isAlive, readStartMarker, type ProcessIdentity } from "../src/driver/process-identity.js";
import type { JsonObject } from "../src/record/json.js";
import { directoryImage, pathsBelow, tarImage } from "./images.js";
import { eventually } from "../src/testing/eventually.js";
import { seededRandom } from "./random.js";
import { tempDir } from "./temp-dir.js";

const sandbox = { id: "sb-1", name: "box" };
const BYTES = 2_000_000;
let dir: string;
let image: string;
let driver: ProcessDriver;

beforeEach(async () => {
  dir = await tempDir();
  image = join(dir, "image");
  await directoryImage(image, BYTES);
  const supervisorProgram = join(dir, "supervisor.mjs");
  await writeFile(supervisorProgram, "setInterval(() => undefined, 1000);\n");
  driver = new ProcessDriver({ clock: systemClock, dataDir: dir, supervisorProgram });
});

function request(options: JsonObject = {}, path = image, run = 1): LaunchRequest {
  return {
    sandbox,
    instance: { id: `instance-${run}`, attemptNumber: 1, run },
    image: { name: "demo-image", path },
    command: ["true"],
    options,
    access: { url: "http://127.0.0.1:1", token: "secret" },
  };
}

function launch(of: LaunchRequest, signal = new AbortController().signal) {
  const reports: DriverProgress[] = [];
  const handle = driver.launch(of, { signal, report: (progress) => reports.push(progress) });
  return { handle, reports };
}

const work = { signal: new AbortController().signal };
const staged = () => readdir(join(dir, "sandboxes", sandbox.id, "staging")).catch((): string[] => []);

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

describe("an image that cannot be used", () => {
  it("is a permanent failure that names what is wrong", async () => {
    const cases: [string, () => Promise<unknown>, RegExp][] = [
      [join(dir, "missing"), () => Promise.resolve(), /cannot be read/],
      [
        join(dir, "text.tar"),
        () => writeFile(join(dir, "text.tar"), "no archive".repeat(200)),
        /not a readable archive/,
      ],
      [join(dir, "empty.tar"), () => writeFile(join(dir, "empty.tar"), ""), /not a readable archive.*empty/],
      [
        join(dir, "pax.tar"),
        () => tarImage(join(dir, "pax.tar"), [{ name: "a", pax: { comment: "x".repeat(5_000_000) } }]),
        /not a readable archive.*max size/,
      ],
      [
        join(dir, "evil.tar"),
        () => tarImage(join(dir, "evil.tar"), [{ name: "../x", content: "x" }]),
        /is refused/,
      ],
      [
        join(dir, "leading-out"),
        async () => {
          await mkdir(join(dir, "leading-out"));
          await symlink("/etc", join(dir, "leading-out", "etc"));
        },
        /absolute path/,
      ],
    ];
    for (const [path, prepare, message] of cases) {
      await prepare();
      const failure = await launch(request({}, path)).handle.catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: "PermanentDriverError" });
      expect((failure as Error).message).toMatch(message);
      expect(await staged()).toEqual([]);
    }
  });

  it("is a permanent failure when a part that was asked for is not there", async () => {
    const { image, ...rest } = request();
    const missing = { ...rest, image: { ...image, include: ["nope"] } };
    const failure = await launch(missing).handle.catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "PermanentDriverError", reason: "LocalImageNotFound" });
    expect((failure as Error).message).toMatch(/has no nope/);
    expect(await staged()).toEqual([]);
  });

  it.runIf(process.platform === "linux")(
    "is a permanent failure when no system takes the command",
    async () => {
      const long = { ...request(), command: ["true", "x".repeat(200_000)] };
      await expect(launch(long).handle).rejects.toMatchObject({ name: "PermanentDriverError" });
      await driver.remove(sandbox, work);
    },
  );

  it("is refused when it is larger than the driver's limit, before a byte moves", async () => {
    driver = new ProcessDriver({
      clock: systemClock,
      dataDir: dir,
      supervisorProgram: "none",
      maxImageBytes: 1000,
    });
    await expect(launch(request()).handle).rejects.toThrow("has 2000000 bytes, and the driver takes 1000");
  });

  it.skipIf(process.getuid?.() === 0)("is an ordinary failure when trying again may help", async () => {
    await chmod(join(image, "share", "data"), 0o000);
    await expect(launch(request()).handle).rejects.toMatchObject({ code: "EACCES" });
  });
});

describe("finding a supervisor again", () => {
  const instance = { id: "instance-1", attemptNumber: 1, run: 1 };

  it("knows it by its note when its handle was never written down, and never takes another instance's", async () => {
    const handle = await launch(request()).handle;
    const run = { instanceId: instance.id };
    const seen = { exists: true, running: true, stale: false, instanceId: instance.id };
    expect(await driver.observe(sandbox, run, null)).toMatchObject(seen);
    expect(await driver.observe(sandbox, { instanceId: "other" }, null)).toMatchObject({
      stale: true,
      instanceId: instance.id,
    });
    await driver.stop(sandbox, work);
    const rest = { exists: true, running: false, suspended: true, bootstrapping: false, stale: false };
    expect(await driver.observe(sandbox, run, handle)).toMatchObject(rest);
    await driver.remove(sandbox, work);
    expect(await driver.observe(sandbox, run, handle)).toMatchObject({ exists: false, running: false });
  });

  it("leaves alone a stranger that has the same process id by now", async () => {
    await mkdir(join(dir, "sandboxes", sandbox.id), { recursive: true });
    const stranger = { instanceId: "instance-1", run: 1, pid: process.pid, startMarker: "of another time" };
    await writeFile(join(dir, "sandboxes", sandbox.id, "supervisor.json"), JSON.stringify(stranger));
    expect(await driver.observe(sandbox, { instanceId: instance.id }, null)).toMatchObject({
      running: false,
      completed: true,
      failureReason: "LocalSupervisorLost",
    });
    await driver.cleanUp(sandbox, work);
    expect(await readStartMarker(process.pid)).not.toBeNull();
  });
});

describe("ending what runs", () => {
  const linux = process.platform === "linux";
  const started: number[] = [];

  afterEach(() => {
    for (const pid of started.splice(0)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended, as it should.
      }
    }
  });

  /** A process whose group's leader has ended. */
  async function orphan(env: Record<string, string>): Promise<{ leader: number; pid: number }> {
    const script = "sleep 60 >/dev/null 2>&1 & echo $!";
    const shell = spawn("sh", ["-c", script], { detached: true, env: { ...process.env, ...env } });
    const [line] = (await once(shell.stdout, "data")) as [Buffer];
    if (shell.exitCode === null) await once(shell, "exit");
    const pid = Number(line.toString());
    started.push(pid);
    return { leader: shell.pid ?? 0, pid };
  }

  const marks = () => ({
    SLIPWAY_SANDBOX: sandbox.id,
    SLIPWAY_IMAGE: join(dir, "sandboxes", sandbox.id, "image", "rootfs"),
  });

  async function note(pid: number, startMarker: string): Promise<void> {
    const home = join(dir, "sandboxes", sandbox.id);
    await mkdir(home, { recursive: true });
    const content = { instanceId: "instance-1", run: 1, pid, startMarker };
    await writeFile(join(home, "supervisor.json"), JSON.stringify(content));
  }

  it.runIf(linux)("asks each process once, though it is known by its group and by its mark", async () => {
    const child = spawn("sleep", ["60"], { detached: true, env: { ...process.env, ...marks() } });
    await once(child, "spawn");
    const pid = child.pid ?? 0;
    started.push(pid);
    await note(pid, (await readStartMarker(pid)) ?? "");
    // Two of one signal that come together are one to their receiver: what is sent is looked at, not what arrives.
    const kill = vi.spyOn(process, "kill");
    await driver.stop(sandbox, work);
    const asked = kill.mock.calls.filter(([, signal]) => signal === "SIGTERM").map(([target]) => target);
    kill.mockRestore();
    expect(asked).toEqual([-pid]);
  });

  it("leaves the group of a leader that is gone alone: its id may be somebody else's by now", async () => {
    const { leader, pid } = await orphan({ SLIPWAY_SANDBOX: "another" });
    const [boot] = ((await readStartMarker(process.pid)) ?? "").split("/");
    for (const marker of [`${boot}/1`, "of-another-boot/1"]) {
      await note(leader, marker);
      await driver.cleanUp(sandbox, work);
      expect(await readStartMarker(pid)).not.toBeNull();
    }
  });

  it.runIf(linux)(
    "ends what carries the sandbox's mark, though nobody leads it or it was noted",
    async () => {
      const { leader, pid } = await orphan(marks());
      await note(leader, "of-another-boot/1");
      await driver.cleanUp(sandbox, work);
      expect(await readStartMarker(pid)).toBeNull();
      for (const end of ["stop", "cleanUp", "remove"] as const) {
        const left = await orphan(marks());
        await driver[end](sandbox, work);
        expect(await readStartMarker(left.pid), end).toBeNull();
      }
    },
  );

  it.runIf(linux)("leaves a sandbox of the same id in another place alone", async () => {
    const { pid } = await orphan({ ...marks(), SLIPWAY_IMAGE: "/elsewhere/image/rootfs" });
    await driver.cleanUp(sandbox, work);
    expect(await readStartMarker(pid)).not.toBeNull();
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
