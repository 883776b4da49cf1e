import { eventually } from "@slipway-examples/gateway-core/testing";
import { derivePhase, type Observation, type SandboxRecord } from "slipway/phase";
import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { VmDriver } from "../src/index.js";
import { withMonitor } from "../src/machine/monitor.js";
import { filesIn, Lab, Launch, requestOf, whyNoLab, type Sent } from "./lab.js";
import { StubGateway } from "./stub-gateway.js";

const run = promisify(execFile);

/** Without KVM a guest needs seconds for what takes a real machine none; a busy machine makes it many. */
const BOOT_LIMIT_MS = 120_000;
const context = { signal: new AbortController().signal };

if (whyNoLab !== null) console.warn(`skipped: ${whyNoLab}`);

/** What a gateway would make of it whose sandbox is ready. */
function phaseOf(observation: Observation | null, record: Partial<SandboxRecord> = {}): string {
  const base = { phase: "Ready", desired: "running", since: 0 } as const;
  const { phase, reason } = derivePhase({ record: { ...base, ...record }, observation, now: Date.now() });
  return `${phase}/${reason}`;
}

describe.skipIf(whyNoLab !== null)(
  `a machine, on real QEMU${whyNoLab === null ? "" : ` (${whyNoLab})`}`,
  () => {
    let lab: Lab;
    let gateway: StubGateway;
    let dataDir: string;
    let driver: VmDriver;
    let path: string;

    beforeAll(async () => {
      lab = await Lab.open({ docker: false });
      gateway = await StubGateway.start();
      dataDir = await lab.dataDir();
      driver = lab.driver(dataDir);
      path = await lab.imageTar("box.tar");
    }, 180_000);

    afterEach(async () => {
      for (const { id } of (await driver.list(null)).items) await driver.remove({ id, name: id }, context);
      expect(await filesIn(join(dataDir, "sandboxes"))).toEqual([]);
      await nothingRuns();
    });

    afterAll(async () => {
      gateway.close();
      await lab.close();
    });

    /** What QEMU has started to reach the gateway ends a moment after it. */
    const nothingRuns = (): Promise<boolean> =>
      eventually("no process left", async () => (await lab.processes()).length === 0);

    const box = (sent: Partial<Sent> = {}): Launch =>
      new Launch(driver, requestOf({ image: { name: "box", path }, url: gateway.url, ...sent }));

    const started = async (launch: Launch): Promise<{ pid: number }> =>
      (await launch.result) as { pid: number };

    const reports = async (launch: Launch, kind: string): Promise<Record<string, unknown>> => {
      const { sandbox, instance } = launch.request;
      const look = (): Promise<Record<string, unknown> | undefined> => {
        const found = gateway.reported(sandbox.id, instance.run).find((call) => call.kind === kind);
        return Promise.resolve(found?.body);
      };
      return eventually(`${kind} of ${sandbox.name}`, look, BOOT_LIMIT_MS);
    };

    it("boots, is found again by another driver, pauses, and keeps its workspace over a stop and a start", {
      timeout: 2 * BOOT_LIMIT_MS,
    }, async () => {
      const command = ["sh", "-c", "echo first > /workspace/mark; echo gone > /etc/mark; sync; sleep 1000"];
      const launch = box({ command });
      const { sandbox, instance, access } = launch.request;
      const handle = await started(launch);
      const expected = { instanceId: instance.id };
      await reports(launch, "ready");
      const calls = gateway.reported(sandbox.id, instance.run);
      expect(new Set(calls.map(({ token }) => token))).toEqual(new Set([access.token]));

      // The token is in no command line, and in no file once the machine runs.
      expect(await readFile(`/proc/${handle.pid}/cmdline`, "utf8")).not.toContain(access.token);
      const machine = await readlink(`/proc/${handle.pid}/cwd`);
      expect(machine).toBe(join(dataDir, "sandboxes", sandbox.id, "machines/1.1"));
      expect(await filesIn(machine)).not.toContain("start.env");

      const seen = await driver.observe(sandbox, expected);
      expect(seen).toMatchObject({ exists: true, running: true, instanceId: instance.id, stale: false });
      expect(phaseOf(seen)).toBe("Ready/DependenciesReady");
      expect(await driver.observe(sandbox, { instanceId: "another" })).toMatchObject({ stale: true });

      // Another driver, as after a restart, knows it by its identity and starts nothing.
      const again = lab.driver(dataDir);
      expect(await again.observe(sandbox, expected)).toMatchObject({
        running: true,
        instanceId: instance.id,
      });
      expect(await new Launch(again, launch.request).result).toEqual(handle);
      expect((await again.list(null)).items.map(({ id }) => id)).toContain(sandbox.id);

      const watching = new AbortController();
      const news = again.watch({ signal: watching.signal })[Symbol.asyncIterator]();
      const told = { done: false, value: { type: "changed", id: sandbox.id } };
      // Once when it is listened to, and then whenever something happens to it.
      expect(await news.next()).toEqual(told);
      const heard = news.next();
      await withMonitor(handle, 5000, (client) => client.execute("stop"));
      expect(await heard).toEqual(told);
      watching.abort();
      const paused = await driver.observe(sandbox, expected);
      expect(paused).toMatchObject({ running: false, suspended: true, workload: "present" });
      expect(phaseOf(paused)).toBe("Stopped/Suspended");

      // A paused machine is switched off like any other: its guest writes down what it has first.
      await driver.stop(sandbox, context);
      const stopped = await driver.observe(sandbox, { ...expected, desired: "stopped" });
      expect(stopped).toMatchObject({ exists: true, workload: "absent", suspended: true, completed: false });
      expect(phaseOf(stopped, { phase: "Stopping", desired: "stopped" })).toBe("Stopped/Stopped");
      expect(await filesIn(join(dataDir, "sandboxes", sandbox.id))).toEqual(["workspace.img"]);

      // The second start ends by itself: the workspace is the first one's, the rest is the image's again.
      const test = ["sh", "-c", 'test ! -e /etc/mark && test "$(cat /workspace/mark)" = first'];
      const second = box({ sandbox, run: 2, command: test });
      await started(second);
      expect(second.step("image")).toEqual([expect.objectContaining({ label: "Image reused", done: true })]);
      expect(await reports(second, "exited")).toMatchObject({ exitCode: 0, signal: null });
      const run2 = { instanceId: second.request.instance.id };
      const ended = await eventually(
        "the guest switches itself off",
        async () => {
          const now = await driver.observe(sandbox, run2);
          return now?.completed === true ? now : null;
        },
        BOOT_LIMIT_MS,
      );
      expect(ended).toMatchObject({
        running: false,
        workload: "absent",
        endedBy: "guest",
        failureReason: null,
      });
      expect(phaseOf(ended)).toBe("Completed/MainProcessCompleted");
      // Its machine was let go, and what it was is still known, also by another driver.
      await nothingRuns();
      expect(phaseOf(await lab.driver(dataDir).observe(sandbox, run2))).toBe(
        "Completed/MainProcessCompleted",
      );

      await driver.remove(sandbox, context);
      expect(await driver.observe(sandbox, run2)).toMatchObject({ exists: false });
      expect(await filesIn(join(dataDir, "sandboxes"))).toEqual([]);
    });

    it("a guest that panics is told from one that ends, and its last words are kept", {
      timeout: BOOT_LIMIT_MS,
    }, async () => {
      const launch = box({ command: ["sh", "-c", "echo c > /proc/sysrq-trigger"] });
      const { sandbox, instance } = launch.request;
      await started(launch);
      const seen = await eventually(
        "the panic",
        async () => {
          const now = await driver.observe(sandbox, { instanceId: instance.id });
          return now?.running === false ? now : null;
        },
        BOOT_LIMIT_MS,
      );
      expect(seen).toMatchObject({
        failureReason: "GuestPanicked",
        failureClass: "terminal",
        workload: "absent",
      });
      expect(seen.message).toContain("Kernel panic");
      expect(phaseOf(seen)).toBe("Error/GuestPanicked");
      expect(phaseOf(seen, { desired: "stopped", phase: "Stopping" })).toBe("Stopped/Stopped");
      await driver.remove(sandbox, context);
    });

    it("a QEMU that is killed or frozen is seen for what it is", { timeout: BOOT_LIMIT_MS }, async () => {
      const launch = box();
      const { sandbox, instance } = launch.request;
      const { pid } = await started(launch);
      const expected = { instanceId: instance.id };

      // Frozen: the monitor does not answer, and nothing is claimed about the guest.
      process.kill(pid, "SIGSTOP");
      const silent = await driver.observe(sandbox, expected);
      expect(silent).toMatchObject({ exists: true, running: null, stale: false });
      expect(phaseOf(silent)).toMatch(/^(Ready|Provisioning|Unknown)\//);
      process.kill(pid, "SIGCONT");

      process.kill(pid, "SIGKILL");
      const killed = await eventually("the end", async () => {
        const now = await driver.observe(sandbox, expected);
        return now?.failureReason === "Killed" ? now : null;
      });
      expect(phaseOf(killed)).toBe("Error/Killed");
      // A driver that was not there to see it learns the same.
      expect(phaseOf(await lab.driver(dataDir).observe(sandbox, expected))).toBe("Error/Killed");
      await driver.cleanUp(sandbox, context);
      expect(await filesIn(join(dataDir, "sandboxes", sandbox.id))).toEqual(["workspace.img"]);
      await driver.remove(sandbox, context);
    });

    it("a frozen QEMU is ended by a stop all the same", { timeout: BOOT_LIMIT_MS }, async () => {
      const launch = box();
      const { pid } = await started(launch);
      process.kill(pid, "SIGSTOP");
      await driver.stop(launch.request.sandbox, context);
      await nothingRuns();
      await driver.remove(launch.request.sandbox, context);
    });

    it("a newer start ends the machine of the one before, and an older one is refused", {
      timeout: BOOT_LIMIT_MS,
    }, async () => {
      const first = box();
      const { pid } = await started(first);
      const { sandbox } = first.request;
      const second = box({ sandbox, run: 2 });
      const handle = await started(second);
      expect(handle.pid).not.toBe(pid);
      expect(await lab.processes()).toHaveLength(1);
      await expect(box({ sandbox, run: 1 }).result).rejects.toThrow("was overtaken by run 2 of attempt 1");
      expect(await lab.processes()).toHaveLength(1);
      await driver.remove(sandbox, context);
    });

    it("a machine that cannot start is no machine: its complaint is the message", {
      timeout: BOOT_LIMIT_MS,
    }, async () => {
      const launch = box({ options: { memoryMb: 1_048_576 } });
      await expect(launch.result).rejects.toThrow(/QEMU does not come up: .*(memory|allocate)/i);
      expect(await filesIn(join(dataDir, "sandboxes", launch.request.sandbox.id))).toEqual(["workspace.img"]);
      await driver.remove(launch.request.sandbox, context);
    });

    it("KVM is used where a guest boots with it, and the device alone proves nothing", {
      timeout: 60_000,
    }, async () => {
      const { usableAccelerator } = await import("../src/machine/accelerator.js");
      const files = [join(lab.guestDir, "vmlinuz"), join(lab.guestDir, "initrd.gz")] as const;
      const found = await usableAccelerator("qemu-system-x86_64", ...files);
      const { stdout } = await run("sh", ["-c", "test -w /dev/kvm && echo there || echo absent"]);
      expect(["tcg", stdout.trim() === "there" ? "kvm" : "tcg"]).toContain(found);
    });
  },
);
