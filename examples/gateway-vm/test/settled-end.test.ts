import { TempDirs } from "@slipway-examples/gateway-core/testing";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DesiredState, Observation } from "slipway/phase";
import type { Clock } from "slipway";
import { afterAll, expect, it } from "vitest";
import { writeEnd, writeNote } from "../src/machine/machine-note.js";
import { VmDriver } from "../src/vm-driver.js";

const temp = new TempDirs();
afterAll(() => temp.remove());

const sandbox = { id: "sb-1", name: "box" };
/** A process that is gone: the one of this number began at another time. */
const GONE = { pid: process.pid, startMarker: "before" };

/** A clock on which every wait is over once something was done, which is told how many there were before it. */
class WaitClock implements Clock {
  waits = 0;
  readonly #meanwhile: (waits: number) => Promise<void>;

  constructor(meanwhile: (waits: number) => Promise<void>) {
    this.#meanwhile = meanwhile;
  }

  now(): number {
    return 1000;
  }

  schedule(_at: number, callback: () => void): Disposable {
    void this.#meanwhile((this.waits += 1)).then(callback);
    return { [Symbol.dispose]: () => undefined };
  }
}

interface Ended {
  /** The machine's folder. */
  readonly directory: string;
  readonly clock: WaitClock;
  readonly look: (desired?: DesiredState) => Promise<Observation | null>;
}

/** A machine whose process is gone without a word, and what becomes of it while a look waits. */
async function ended(meanwhile: (directory: string, waits: number) => Promise<void>): Promise<Ended> {
  const dataDir = await temp.make();
  const directory = join(dataDir, "sandboxes", sandbox.id, "machines", "1.1");
  await mkdir(directory, { recursive: true });
  await writeNote(directory, { instanceId: "i-1", process: GONE });
  const clock = new WaitClock((waits) => meanwhile(directory, waits));
  const driver = new VmDriver({ dataDir, guestDir: "/nowhere", clock });
  return { directory, clock, look: (desired = "running") => driver.observe(sandbox, { desired }) };
}

it.each([1, 20])(
  "how QEMU ended is told also where it is written down after wait %i of a look",
  async (at) => {
    const { clock, look } = await ended(async (directory, waits) => {
      if (waits === at) await writeEnd(directory, { process: { exitCode: null, signal: "SIGKILL" } });
    });
    expect(await look()).toMatchObject({ failureReason: "Killed", instanceId: "i-1", running: false });
    expect(clock.waits).toBe(at);
  },
);

it("an end that nobody explains is waited for once, by whoever looks first", async () => {
  const { directory, clock, look } = await ended(() => Promise.resolve());
  expect(await look()).toMatchObject({ failureReason: "VmmExited" });
  expect(clock.waits).toBe(20);
  // Whoever started it was slower still: what was told stands.
  await writeEnd(directory, { process: { exitCode: null, signal: "SIGKILL" } });
  expect(await look()).toMatchObject({ failureReason: "VmmExited" });
  expect(clock.waits).toBe(20);
});

it.each(["stopped", "deleted"] as const)(
  "an end that was asked for is not waited for: %s",
  async (desired) => {
    const { directory, clock, look } = await ended(() => Promise.resolve());
    expect(await look(desired)).toMatchObject({ failureReason: null, running: false });
    expect(clock.waits).toBe(0);
    await expect(readFile(join(directory, "end.json"))).rejects.toThrow("ENOENT");
  },
);

it("a machine that is removed meanwhile did not fail", async () => {
  const { look } = await ended((directory) => rm(directory, { recursive: true, force: true }));
  expect(await look()).toMatchObject({ exists: true, running: false, failureReason: null });
});
