import type { DriverContext } from "@slipway-examples/gateway-core";
import { TempDirs } from "@slipway-examples/gateway-core/testing";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "slipway";
import { VirtualClock } from "slipway/testing";
import { afterAll, describe, expect, it } from "vitest";
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

/** A clock that says when it is read; in between nothing passes. */
class AskedClock implements Clock {
  readonly #clock = new VirtualClock();
  /** Done right after a reading: whoever looks is stopped there, and goes on later. */
  afterReading: () => void = () => undefined;

  now(): number {
    const now = this.#clock.now();
    this.afterReading();
    return now;
  }

  schedule(...args: Parameters<Clock["schedule"]>): Disposable {
    return this.#clock.schedule(...args);
  }

  get instant(): number {
    return this.#clock.now();
  }

  advance(ms: number): void {
    this.#clock.advance(ms);
  }
}

describe("what begins while a look is held up", () => {
  it.each(["observe", "list"] as const)("is not older than what %s says of the time before", async (call) => {
    const dataDir = await temp.make();
    const clock = new AskedClock();
    const log = (): void => undefined;
    const [driver] = vmDrivers({ guestDir: "/nowhere" })({
      clock,
      dataDir,
      log,
      supervisorProgram: "/nowhere",
    });
    const root = join(dataDir, "vm", "sandboxes", sandbox.id);
    mkdirSync(root, { recursive: true });
    const begun = clock.instant;
    let readings = 0;
    clock.afterReading = () => {
      readings += 1;
      clock.advance(60_000);
      // The machine of another start is noted right when the clock is read: whoever read first has not seen it.
      const machine = join(root, "machines", "1.1");
      mkdirSync(machine, { recursive: true });
      writeFileSync(join(machine, "machine.json"), JSON.stringify({ instanceId: "i-1", process: null }));
      writeFileSync(join(machine, "end.json"), "{}");
    };
    const seen =
      call === "observe"
        ? await driver?.observe(sandbox, {})
        : (await driver?.list(null))?.items[0]?.observation;
    expect(readings).toBe(1);
    expect(seen?.observedAt).toBe(begun);
    // Read after the date: newer facts under an older date do no harm, older facts under a newer one would.
    expect(seen?.instanceId).toBe("i-1");
  });
});
