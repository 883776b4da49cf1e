import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SandboxRef, WorkContext } from "../src/driver/driver.js";
import { processDrivers } from "../src/driver/process-drivers.js";
import { readStartMarker } from "../src/driver/process-identity.js";
import { SqliteStore } from "../src/store/sqlite-store.js";
import { StartedGateway } from "../src/testing/started-gateway.js";
import { Bench } from "./bench.js";
import { directoryImage } from "./images.js";
import { tempDir } from "./temp-dir.js";
import { writtenPid } from "./written-pid.js";

const supervisorProgram = fileURLToPath(new URL("../dist/supervisor.js", import.meta.url));

describe("a gateway that manages the lifecycle of real processes", () => {
  let dir: string;
  let gateway: StartedGateway;

  const start = (managesLifecycle: boolean) =>
    StartedGateway.start({
      drivers: (context) => processDrivers({ ...context, supervisorProgram }),
      dataDir: join(dir, "data"),
      managesLifecycle,
    });

  beforeEach(async () => {
    dir = await tempDir();
    await directoryImage(join(dir, "image"), 200_000);
    gateway = await start(true);
  });

  afterEach(async () => {
    await gateway.removeAll();
    await gateway.close();
  });

  it("stops what runs when it ends, keeps the intent, and starts it again with the same workspace", async () => {
    const { client } = gateway;
    const image = { path: join(dir, "image") };
    const box = await client.create({ name: "box", image, command: ["sh", "-c", "echo $$ > pid; sleep 60"] });
    const other = await client.create({ name: "other", image, command: ["sleep", "60"] });
    const ready = await gateway.until(box.id, ({ phase }) => phase === "Ready");
    await gateway.until(other.id, ({ phase }) => phase === "Ready");
    await client.stop(other.id);
    await gateway.until(other.id, ({ phase }) => phase === "Stopped");
    const workspace = join(dir, "data", "sandboxes", box.id, "workspace");
    await writeFile(join(workspace, "sentinel"), "mine");
    const pid = await writtenPid(join(workspace, "pid"));
    await gateway.close();
    expect(await readStartMarker(pid)).toBeNull();
    gateway = await start(true);
    const back = await gateway.until(box.id, ({ phase, attempt }) => phase === "Ready" && attempt === 2);
    expect(back).toMatchObject({ id: ready.id, name: "box", desired: "running" });
    expect(await readFile(join(workspace, "sentinel"), "utf8")).toBe("mine");
    expect(await gateway.client.get(other.id)).toMatchObject({ phase: "Stopped", attempt: 1 });
  });

  it("leaves a sandbox that its user can start, when the next gateway manages nothing", async () => {
    const image = { path: join(dir, "image") };
    const box = await gateway.client.create({ name: "box", image, command: ["sleep", "60"] });
    await gateway.until(box.id, ({ phase }) => phase === "Ready");
    await gateway.close();
    gateway = await start(false);
    const after = await gateway.until(box.id, ({ phase }) => phase !== "Ready");
    expect(after).toMatchObject({ phase: "Stopped", reason: "BackendEmpty", id: box.id });
    await gateway.client.start(box.id);
    await gateway.until(box.id, ({ phase }) => phase === "Ready");
  });
});

describe("a shutdown sweep", () => {
  let bench: Bench;

  beforeEach(async () => {
    bench = await Bench.open();
  });

  afterEach(() => bench.close());

  const managed = { policy: { managesLifecycle: true } };

  it("goes on when a stop fails, and tells of it", async () => {
    const gateway = await bench.gateway("one", managed);
    const ids: string[] = [];
    for (const name of ["a", "b", "c"]) {
      const { record } = await gateway.create({ ...bench.request, name });
      await bench.settle();
      ids.push(record.id);
      await bench.becomeReady(gateway, record.id);
    }
    const stopped: string[] = [];
    const meant: unknown[] = [];
    const stop = (sandbox: SandboxRef, { upTo }: WorkContext): Promise<void> => {
      stopped.push(sandbox.id);
      meant.push(upTo);
      return sandbox.id === ids[1] ? Promise.reject(new Error("busy")) : Promise.resolve();
    };
    Object.assign(bench.driver, { stop });
    await gateway.close();
    expect(stopped.sort()).toEqual([...ids].sort());
    // A newer start, which another gateway began meanwhile, is not this one's to end.
    expect(meant).toEqual(ids.map(() => ({ attemptNumber: 1, run: 1 })));
    expect(bench.logged).toContain("shutdown-stop-failed");
    for (const id of ids) expect(await bench.read(gateway, id)).toMatchObject({ phase: "Ready" });
  });

  it("is made up for once the backend answers again, and takes a look that failed for nothing", async () => {
    const first = await bench.gateway("one", managed);
    const id = await bench.create(first);
    await bench.becomeReady(first, id);
    await first.close();
    expect(bench.driver.running.has(id)).toBe(false);
    bench.driver.onObserve = () => Promise.reject(new Error("no answer yet"));
    const next = await bench.gateway("two", managed);
    await bench.pass(20_000);
    expect(await bench.read(next, id)).toMatchObject({ phase: "Ready", attemptNumber: 1 });
    bench.driver.onObserve = () => Promise.resolve();
    // The waits double: half a minute at most, and the launch comes within the step that finds an answer.
    for (let steps = 0; steps < 32 && (await bench.read(next, id)).attemptNumber === 1; steps += 1)
      await bench.pass(1000);
    expect(await bench.read(next, id)).toMatchObject({ phase: "Starting", attemptNumber: 2 });
    expect(await bench.becomeReady(next, id)).toMatchObject({ phase: "Ready", attemptNumber: 2 });
  });

  it("stops nothing when its start had failed", async () => {
    class Away extends SqliteStore {
      override list(): Promise<never> {
        return Promise.reject(new Error("the database is away"));
      }
    }
    const first = await bench.gateway("one", managed);
    const id = await bench.create(first);
    await bench.becomeReady(first, id);
    await bench.kill(first);
    const store = new Away(bench.path);
    await expect(bench.gateway("two", { ...managed, store })).rejects.toThrow("the database is away");
    await bench.close();
    await store.close();
    expect(bench.driver.running.has(id)).toBe(true);
    const next = await bench.gateway("three", managed);
    expect(await bench.read(next, id)).toMatchObject({ phase: "Ready", attemptNumber: 1 });
  });

  /** Stops as an engine does: what ended stays to be seen. */
  function endVisibly(): void {
    const stop = ({ id }: SandboxRef): Promise<void> => Promise.resolve(bench.driver.running.get(id)?.gone());
    Object.assign(bench.driver, { stop });
  }

  it("says in the record what it stopped, and its next start begins that anew though it shows as ended", async () => {
    const first = await bench.gateway("one", managed);
    const id = await bench.create(first);
    await bench.becomeReady(first, id);
    endVisibly();
    const at = bench.clock.now();
    await first.close();
    expect(await bench.read(first, id)).toMatchObject({
      phase: "Ready",
      desired: "running",
      shutdownStopAt: at,
    });
    const next = await bench.gateway("two", managed);
    await bench.pass(2000);
    expect(await bench.read(next, id)).toMatchObject({
      phase: "Starting",
      attemptNumber: 2,
      shutdownStopAt: null,
    });
    expect(await bench.becomeReady(next, id)).toMatchObject({ phase: "Ready", attemptNumber: 2 });
  });

  it("starts nothing again that ended while no gateway was there", async () => {
    const first = await bench.gateway("one", managed);
    const id = await bench.create(first);
    await bench.becomeReady(first, id);
    await bench.kill(first);
    bench.driver.running.get(id)?.gone();
    const next = await bench.gateway("two", managed);
    await bench.pass(60_000);
    expect(await bench.read(next, id)).toMatchObject({ phase: "Error", attemptNumber: 1 });
    expect(bench.driver.launches).toHaveLength(1);
  });

  it("takes back what it said of a stop that failed: what runs on ends by itself", async () => {
    const first = await bench.gateway("one", managed);
    const id = await bench.create(first);
    await bench.becomeReady(first, id);
    Object.assign(bench.driver, { stop: () => Promise.reject(new Error("busy")) });
    await first.close();
    expect(await bench.read(first, id)).toMatchObject({ phase: "Ready", shutdownStopAt: null });
    bench.driver.running.get(id)?.gone();
    endVisibly();
    const next = await bench.gateway("two", managed);
    await bench.pass(60_000);
    expect(await bench.read(next, id)).toMatchObject({ phase: "Error", attemptNumber: 1 });
  });

  it("stops nothing of which it cannot say that it was stopped", async () => {
    const first = await bench.gateway("one", managed);
    const id = await bench.create(first);
    await bench.becomeReady(first, id);
    bench.storeOf(first).compareAndSwap = () => Promise.reject(new Error("the store is away"));
    await first.close();
    expect(bench.logged).toContain("shutdown-stop-failed");
    expect(bench.driver.running.has(id)).toBe(true);
    const next = await bench.gateway("two", managed);
    await bench.pass(2000);
    expect(await bench.read(next, id)).toMatchObject({ phase: "Ready", attemptNumber: 1 });
  });

  it("has said nothing any more once a gateway is there that manages nothing", async () => {
    const first = await bench.gateway("one", managed);
    const id = await bench.create(first);
    await bench.becomeReady(first, id);
    await first.close();
    const next = await bench.gateway("two");
    await bench.pass(2000);
    expect(await bench.read(next, id)).toMatchObject({ attemptNumber: 1, shutdownStopAt: null });
  });

  it("starts nothing again that runs, was stopped, ended or failed", async () => {
    const first = await bench.gateway("one", managed);
    const ids: Record<string, string> = {};
    for (const name of ["runs", "stopped", "ended", "failed"]) {
      const { record } = await first.create({ ...bench.request, name });
      await bench.settle();
      ids[name] = record.id;
      await bench.becomeReady(first, record.id);
    }
    await first.stopSandbox(ids["stopped"]!);
    await bench.report(first, ids["ended"]!, { kind: "exited", exitCode: 0, signal: null });
    await bench.report(first, ids["failed"]!, { kind: "exited", exitCode: 1, signal: null });
    await bench.settle();
    await bench.kill(first);
    const next = await bench.gateway("two", managed);
    await bench.pass(60_000);
    const phases = { runs: "Ready", stopped: "Stopped", ended: "Completed", failed: "Error" };
    for (const [name, phase] of Object.entries(phases))
      expect(await bench.read(next, ids[name]!), name).toMatchObject({ phase, attemptNumber: 1 });
  });
});
