import { TempDirs } from "@slipway-examples/gateway-core/testing";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { VmDriver } from "../src/vm-driver.js";

const temp = new TempDirs();
afterAll(() => temp.remove());

const { signal } = new AbortController();
const sandbox = { id: "sb-1", name: "box" };

it.each(["stop", "cleanUp"] as const)(
  "a %s that is meant for a start leaves the machine and the staging of a newer one alone",
  async (call) => {
    const dataDir = await temp.make();
    const root = join(dataDir, "sandboxes", sandbox.id);
    const kinds = call === "stop" ? ["machines"] : ["machines", "staging"];
    for (const kind of ["machines", "staging"])
      for (const start of ["1.1", "1.2", "1.3", "2.1"])
        await mkdir(join(root, kind, start), { recursive: true });
    const driver = new VmDriver({ dataDir, guestDir: "/nowhere" });
    await driver[call](sandbox, { signal, upTo: { attemptNumber: 1, run: 2 } });
    for (const kind of kinds) expect((await readdir(join(root, kind))).sort()).toEqual(["1.3", "2.1"]);
    await driver[call](sandbox, { signal });
    for (const kind of kinds) expect(await readdir(join(root, kind)).catch(() => [])).toEqual([]);
  },
);
