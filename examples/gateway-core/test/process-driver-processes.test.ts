import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ProcessDriver } from "../src/driver/process-driver.js";
import { readStartMarker } from "../src/driver/process-identity.js";
import { launchOn, ProcessDriverBench, sandbox, work } from "./process-driver-bench.js";

let bench: ProcessDriverBench;
let dir: string;
let driver: ProcessDriver;

beforeEach(async () => {
  bench = await ProcessDriverBench.open();
  ({ dir, driver } = bench);
});

describe("finding a supervisor again", () => {
  const instance = { id: "instance-1", attemptNumber: 1, run: 1 };

  it("knows it by its note when its handle was never written down, and never takes another instance's", async () => {
    const handle = await launchOn(driver, bench.request()).handle;
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
