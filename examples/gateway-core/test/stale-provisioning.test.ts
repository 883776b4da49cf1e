import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock, type WatchEvent } from "slipway";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Driver } from "../src/driver/driver.js";
import { ProcessDriver } from "../src/driver/process-driver.js";
import { DEFAULT_BUDGETS } from "../src/gateway/budgets.js";
import type { SandboxView } from "../src/http/view.js";
import type { SandboxRecord } from "../src/record/record.js";
import { eventually } from "../src/testing/eventually.js";
import { StartedGateway } from "../src/testing/started-gateway.js";
import { directoryImage } from "./images.js";
import { tempDir } from "./temp-dir.js";
import { fileURLToPath } from "node:url";

const supervisorProgram = fileURLToPath(new URL("../dist/supervisor.js", import.meta.url));
const INVALID = { version: 1, network: { allow: ["nowhere"] } };
const VALID = { version: 1 };

let dir: string;
let image: string;
let driver: ProcessDriver;
/** The driver as the gateway has it: a test may make its looks and lists lie or fail. */
let seenBy: Driver;
let gateway: StartedGateway;

/** No news: then a sweep finds what there is, and those come when a test asks for them. */
async function* silence({ signal }: { readonly signal: AbortSignal }): AsyncIterable<WatchEvent> {
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

beforeEach(async () => {
  dir = await tempDir();
  image = join(dir, "image");
  await directoryImage(image, 200_000);
  driver = new ProcessDriver({ clock: systemClock, dataDir: join(dir, "data"), supervisorProgram });
  seenBy = Object.assign(Object.create(driver) as Driver, {
    name: driver.name,
    check: driver.check.bind(driver),
    launch: driver.launch.bind(driver),
    observe: driver.observe.bind(driver),
    list: driver.list.bind(driver),
    watch: silence,
    stop: driver.stop.bind(driver),
    cleanUp: driver.cleanUp.bind(driver),
    remove: driver.remove.bind(driver),
  } satisfies Partial<Driver>);
  gateway = await StartedGateway.start({
    drivers: [seenBy],
    dataDir: join(dir, "data"),
    sweepEveryMs: 3_600_000,
    budgets: DEFAULT_BUDGETS,
  });
});

afterEach(async () => {
  Object.assign(seenBy, {
    observe: driver.observe.bind(driver),
    list: driver.list.bind(driver),
    remove: driver.remove.bind(driver),
  });
  await gateway.removeAll();
  await gateway.close();
});

const workspace = (id: string): string => join(dir, "data", "sandboxes", id, "workspace", "sentinel");

async function recordOf(id: string): Promise<SandboxRecord> {
  return (await gateway.gateway.records.read(id))!.record;
}

/** A sandbox whose supervisor waits for a better configuration: Provisioning, with something in its workspace. */
async function waiting(): Promise<SandboxView> {
  const fields = { name: "box", image: { path: image }, command: ["sleep", "60"], policy: INVALID };
  const { id } = await gateway.client.create(fields);
  const view = await gateway.until(id, ({ admission }) => admission === "rejected");
  expect(view.phase).toBe("Provisioning");
  await eventually("the driver's answer", async () => (await recordOf(id)).instance?.launchedAt);
  await writeFile(workspace(id), "mine");
  return view;
}

/** What a suspended backend looks like: the driver itself put it to rest, and the gateway's record does not know. */
async function emptied(): Promise<SandboxView> {
  const view = await waiting();
  await driver.stop(view, { signal: new AbortController().signal });
  return view;
}

/** Sweeps until no supervisor counts as connected any more: its last words are a few seconds old by then. */
async function swept(id: string, seen: (record: SandboxRecord) => boolean): Promise<void> {
  await eventually("what the reconcile makes of it", async () => {
    await gateway.gateway.reconcile();
    return seen(await recordOf(id));
  });
}

describe("a record in Provisioning over an empty backend", () => {
  it("becomes startable at the next reconcile, and start reuses identity and workspace", async () => {
    const { id, run } = await emptied();
    await swept(id, ({ phase }) => phase === "Stopped");
    const stopped = await gateway.client.get(id);
    expect(stopped).toMatchObject({ phase: "Stopped", reason: "BackendEmpty", desired: "running" });
    await gateway.client.update(id, { policy: VALID });
    expect(await gateway.client.start(id)).toMatchObject({ changed: true });
    const ready = await gateway.until(id, ({ phase }) => phase === "Ready");
    expect(ready).toMatchObject({ id, attempt: 2 });
    expect(ready.run).toBeGreaterThan(run);
    expect(await readFile(workspace(id), "utf8")).toBe("mine");
  });

  it("does not make its user wait for a reconcile", async () => {
    const { id } = await emptied();
    await gateway.client.update(id, { policy: VALID });
    // Its supervisor has just been heard of; a start looks at what is there.
    expect(await gateway.client.start(id)).toMatchObject({ changed: true });
    const ready = await gateway.until(id, ({ phase }) => phase === "Ready");
    expect(ready).toMatchObject({ id, attempt: 2 });
    expect(await readFile(workspace(id), "utf8")).toBe("mine");
  });

  it("is held while the driver says that it is bootstrapping", async () => {
    const { id } = await emptied();
    const { phase, since } = await recordOf(id);
    Object.assign(seenBy, {
      observe: async (...args: Parameters<Driver["observe"]>) => ({
        ...(await driver.observe(args[0], args[1], args[2])),
        bootstrapping: true,
      }),
    });
    await new Promise((resolve) => setTimeout(resolve, 6000));
    await gateway.gateway.reconcile();
    expect(await recordOf(id)).toMatchObject({ phase, since });
    expect((await gateway.client.get(id)).operations.start.allowed).toBe(false);
  });

  it("is held on an observation that is older than the record, on a failed look, and on a failed list", async () => {
    const { id } = await emptied();
    const { phase, since, updatedAt } = await recordOf(id);
    await new Promise((resolve) => setTimeout(resolve, 6000));
    Object.assign(seenBy, {
      observe: async (...args: Parameters<Driver["observe"]>) => ({
        ...(await driver.observe(args[0], args[1], args[2])),
        observedAt: updatedAt - 1,
      }),
    });
    await gateway.gateway.reconcile();
    expect(await recordOf(id)).toMatchObject({ phase, since });
    Object.assign(seenBy, { observe: () => Promise.reject(new Error("no answer")) });
    await gateway.gateway.reconcile();
    expect(await recordOf(id)).toMatchObject({ phase, since });
    Object.assign(seenBy, {
      observe: driver.observe.bind(driver),
      list: () => Promise.reject(new Error("no list")),
    });
    await gateway.gateway.reconcile();
    expect(await recordOf(id)).toMatchObject({ phase, since });
    Object.assign(seenBy, { list: driver.list.bind(driver) });
    await gateway.gateway.reconcile();
    expect(await recordOf(id)).toMatchObject({ phase: "Stopped", reason: "BackendEmpty" });
  });
});

describe("a record in Starting over an empty backend", () => {
  it("stays, and start tries the same start again: same identity, workspace and deadline", async () => {
    const { id } = await waiting();
    await gateway.client.stop(id);
    await gateway.until(id, ({ phase }) => phase === "Stopped");
    await gateway.client.start(id);
    await gateway.until(id, (view) => view.attempt === 2 && view.admission === "rejected");
    await eventually("the driver's answer", async () => (await recordOf(id)).instance?.launchedAt);
    const before = await recordOf(id);
    expect(before.phase).toBe("Starting");
    await driver.stop({ id, name: "box" }, { signal: new AbortController().signal });
    await gateway.gateway.reconcile();
    expect(await recordOf(id)).toMatchObject({ phase: "Starting", since: before.since });
    const { operations } = await gateway.client.get(id);
    expect(operations.start).toMatchObject({ allowed: true, route: "retry" });
    await gateway.client.update(id, { policy: VALID });
    expect(await gateway.client.start(id)).toMatchObject({ changed: true });
    const ready = await gateway.until(id, ({ phase }) => phase === "Ready");
    expect(ready).toMatchObject({ id, attempt: 2, run: before.run + 1 });
    expect((await recordOf(id)).deadline?.startedAt).toBe(before.deadline?.startedAt);
    expect(await readFile(workspace(id), "utf8")).toBe("mine");
  });
});
