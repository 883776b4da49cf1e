import type { DriverContext } from "@slipway-examples/gateway-core";
import { TempDirs } from "@slipway-examples/gateway-core/testing";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { VirtualClock } from "slipway/testing";
import { afterAll, expect, it } from "vitest";
import { writeEnd, writeNote } from "../src/machine/machine-note.js";
import { vmDrivers } from "../src/vm-drivers.js";

const temp = new TempDirs();
afterAll(() => temp.remove());

const sandbox = { id: "sb-1", name: "box" };

it("dates what it sees by the gateway's clock, whatever the host's says", async () => {
  const dataDir = await temp.make();
  const clock = new VirtualClock();
  const log = (): void => undefined;
  const context: DriverContext = { clock, dataDir, log, supervisorProgram: "/nowhere" };
  const [driver] = vmDrivers({ guestDir: "/nowhere" })(context);
  const seenAt = async (): Promise<number | null | undefined> =>
    (await driver?.observe(sandbox, {}))?.observedAt;

  clock.advance(1000);
  expect(await seenAt()).toBe(clock.now());

  const machine = join(dataDir, "vm", "sandboxes", sandbox.id, "machines", "1.1");
  await mkdir(machine, { recursive: true });
  await writeNote(machine, { instanceId: "i-1", process: null });
  await writeEnd(machine, { process: { exitCode: 1, signal: null } });
  clock.advance(1000);
  expect(await seenAt()).toBe(clock.now());
});
