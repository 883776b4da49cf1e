import { systemClock } from "slipway";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { LaunchRequest } from "../src/driver/driver.js";
import { ProcessDriver } from "../src/driver/process-driver.js";
import type { JsonObject } from "../src/record/json.js";
import { tarImage } from "./images.js";
import { launchOn, ProcessDriverBench, sandbox, work } from "./process-driver-bench.js";

let bench: ProcessDriverBench;
let dir: string;
let image: string;
let driver: ProcessDriver;

beforeEach(async () => {
  bench = await ProcessDriverBench.open();
  ({ dir, image, driver } = bench);
});

const request = (options?: JsonObject, path?: string) => bench.request(options, path);
const launch = (of: LaunchRequest) => launchOn(driver, of);
const staged = () => bench.staged();

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
