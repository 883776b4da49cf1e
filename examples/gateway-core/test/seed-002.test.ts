import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { DEFAULT_BUDGETS, processDrivers } from "@slipway-examples/gateway-core";
// As built, because the supervisor is a program.
import { eventually, StartedGateway } from "@slipway-examples/gateway-core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readStartMarker } from "../src/driver/process-identity.js";
import type { SandboxView } from "../src/http/view.js";
import { directoryImage } from "./images.js";
import { Relay } from "./relay.js";
import { tempDir } from "./temp-dir.js";

const cli = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const run = promisify(execFile);

let dir: string;
let image: string;
let relay: Relay;
let gateway: StartedGateway | undefined;

beforeEach(async () => {
  dir = await tempDir();
  image = join(dir, "image");
  await directoryImage(image, 1000);
  relay = await new Relay().open();
});

afterEach(async () => {
  await gateway?.removeAll();
  await gateway?.close();
  await relay.close();
});

/** A gateway that supervisors reach through the relay only. */
async function start(budgets: Partial<typeof DEFAULT_BUDGETS> = {}): Promise<StartedGateway> {
  const started = await StartedGateway.start({
    drivers: processDrivers,
    dataDir: dir,
    supervisorUrl: relay.url,
    budgets: { ...DEFAULT_BUDGETS, ...budgets },
  });
  gateway = started;
  relay.target = started.url;
  return started;
}

const home = ({ id }: SandboxView): string => join(dir, "sandboxes", id);
const inWorkspace = (view: SandboxView, name: string): Promise<string> =>
  readFile(join(home(view), "workspace", name), "utf8").catch(() => "");
const supervisorLog = (view: SandboxView): Promise<string> =>
  readFile(join(home(view), "supervisor.log"), "utf8").catch(() => "");

async function create(on: StartedGateway): Promise<SandboxView> {
  const command = ["sh", "-c", "printf x >> runs; exec sleep 600"];
  const box = await on.client.create({ name: "box", image: { path: image }, command });
  await on.until(box.id, ({ phase }) => phase === "Ready");
  await eventually("the first run", async () => (await inWorkspace(box, "runs")) === "x");
  await writeFile(join(home(box), "workspace", "sentinel"), "kept");
  return box;
}

async function stop(on: StartedGateway, box: SandboxView): Promise<void> {
  await on.client.stop(box.id);
  await on.until(box.id, ({ phase }) => phase === "Stopped");
}

/** Waits until the supervisor of the present run failed to reach its gateway several times. */
async function refusedAgainAndAgain(box: SandboxView, since: string): Promise<void> {
  await eventually("several refused attempts", async () =>
    /waits [\d.]+ s for attempt 5 .*ECONNREFUSED \(transient\)/.test(
      (await supervisorLog(box)).slice(since.length),
    ),
  );
}

describe("seed 002 with real processes and sockets", () => {
  it("criteria 1, 2 and 5: a replacement that starts before its gateway can be reached becomes usable once it can, with its workspace", async () => {
    const on = await start();
    const box = await create(on);
    await stop(on, box);
    await relay.close();
    const since = await supervisorLog(box);
    await on.client.start(box.id);
    await refusedAgainAndAgain(box, since);
    expect(await on.client.get(box.id)).toMatchObject({ phase: "Starting", id: box.id });
    expect(await inWorkspace(box, "runs")).toBe("x");
    await relay.open();
    const ready = await on.until(box.id, ({ phase }) => phase === "Ready");
    expect(ready).toMatchObject({ id: box.id, attempt: 2 });
    await eventually("the second run", async () => (await inWorkspace(box, "runs")) === "xx");
    expect(await inWorkspace(box, "sentinel")).toBe("kept");
    expect(ready.conditions.find(({ type }) => type === "Bootstrapped")).toMatchObject({
      status: "True",
      reason: "BootstrapSucceeded",
    });
  });

  it("criterion 6: a stop during the outage stays a stop when the gateway can be reached again", async () => {
    const on = await start();
    const box = await create(on);
    await stop(on, box);
    await relay.close();
    const since = await supervisorLog(box);
    await on.client.start(box.id);
    await refusedAgainAndAgain(box, since);
    const note = JSON.parse(await readFile(join(home(box), "supervisor.json"), "utf8")) as { pid: number };
    await stop(on, box);
    await relay.open();
    expect(await readStartMarker(note.pid)).toBeNull();
    expect(await inWorkspace(box, "runs")).toBe("x");
    expect(await on.client.get(box.id)).toMatchObject({ phase: "Stopped" });
  });

  it("criterion 7: a bootstrap that outlived its deadline is recovered explicitly, with identity, workspace and a new deadline", async () => {
    const on = await start({ preparationMs: 6000, stallMs: 6000 });
    const box = await create(on);
    await stop(on, box);
    await relay.close();
    await on.client.start(box.id);
    const failed = await on.until(
      box.id,
      ({ phase, deadline }) => phase === "Error" && deadline?.cleanup.status === "done",
    );
    expect(failed).toMatchObject({ reason: "ImagePreparationTimedOut", attempt: 2 });
    await relay.open();
    // Nothing leaves the error by itself, though the gateway can be reached.
    expect(await on.client.get(box.id)).toMatchObject({ phase: "Error", attempt: 2 });
    expect(await inWorkspace(box, "runs")).toBe("x");
    await run(process.execPath, [cli, "--url", on.url, "recover", "box"]);
    const ready = await on.client.get(box.id);
    expect(ready).toMatchObject({ phase: "Ready", id: box.id, attempt: 3 });
    expect(ready.run).toBeGreaterThan(failed.run);
    await eventually("the second run", async () => (await inWorkspace(box, "runs")) === "xx");
    expect(await inWorkspace(box, "sentinel")).toBe("kept");
    const again = await run(process.execPath, [cli, "--url", on.url, "recover", "box"]);
    expect(again.stderr).toContain("box is Ready, and not in Error");
  });

  it("criterion 7: a start that nobody knows the end of is never repeated, and recovered explicitly", async () => {
    const on = await start();
    relay.holds = (path, body) => path.endsWith("/activation") && body.includes('"active"');
    const command = ["sh", "-c", "printf x >> runs; exec sleep 600"];
    const box = await on.client.create({ name: "box", image: { path: image }, command });
    await eventually("the workload", async () => (await inWorkspace(box, "runs")) === "x");
    await writeFile(join(home(box), "workspace", "sentinel"), "kept");
    const note = JSON.parse(await readFile(join(home(box), "supervisor.json"), "utf8")) as { pid: number };
    process.kill(note.pid, "SIGKILL");
    const failed = await on.until(box.id, ({ phase }) => phase === "Error");
    expect(failed).toMatchObject({ reason: "LocalActivationUncertain", attempt: 1 });
    relay.holds = () => false;
    await on.until(box.id, ({ deadline }) => deadline?.cleanup.status === "done");
    expect(await inWorkspace(box, "runs")).toBe("x");
    await on.client.start(box.id);
    expect(await on.until(box.id, ({ phase }) => phase === "Ready")).toMatchObject({
      id: box.id,
      attempt: 2,
    });
    await eventually("the second run", async () => (await inWorkspace(box, "runs")) === "xx");
    expect(await inWorkspace(box, "sentinel")).toBe("kept");
  });
});
