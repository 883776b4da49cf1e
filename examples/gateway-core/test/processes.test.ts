import Database from "libsql";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GatewayClient } from "../src/client/gateway-client.js";
import { GatewayProcess } from "../src/demo/gateway-process.js";
import { readStartMarker } from "../src/driver/process-identity.js";
import type { SandboxView } from "../src/http/view.js";
import { directoryImage } from "./images.js";
import { eventually } from "../src/testing/eventually.js";
import { tempDir } from "./temp-dir.js";
import { writtenPid } from "./written-pid.js";

const cli = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const run = promisify(execFile);
const INVALID = { version: 1, network: { allow: ["nowhere"] } };
const gateways: GatewayProcess[] = [];
let dir: string;
let image: string;

beforeEach(async () => {
  dir = await tempDir();
  image = join(dir, "image");
  await directoryImage(image, 400_000);
});

afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.end("SIGKILL")));
});

async function start(
  ...args: readonly string[]
): Promise<{ gateway: GatewayProcess; url: string; client: GatewayClient }> {
  const gateway = new GatewayProcess({ dataDir: dir, args, cli });
  gateways.push(gateway);
  const url = await gateway.start();
  return { gateway, url, client: new GatewayClient({ url }) };
}

async function until(
  client: GatewayClient,
  id: string,
  seen: (view: SandboxView) => boolean,
): Promise<SandboxView> {
  return eventually(`what ${id} should become`, async () => {
    const view = await client.get(id);
    return seen(view) && view;
  });
}

async function removeAll(client: GatewayClient): Promise<void> {
  for (const { id } of (await client.list()).items) await client.delete(id);
  await eventually("nothing left", async () => (await client.list()).items.length === 0);
}

describe("the command line", () => {
  async function call(
    url: string,
    ...args: string[]
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    try {
      return { code: 0, ...(await run(process.execPath, [cli, "--url", url, ...args])) };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, stdout, stderr };
    }
  }

  it("says what became of an update: accepted, rejected, or nobody has judged it yet", async () => {
    const { url, client } = await start();
    const { id } = await client.create({ name: "box", image: { path: image }, command: ["sleep", "600"] });
    await until(client, id, ({ phase }) => phase === "Ready");
    const update = (policy: object, ...more: string[]) =>
      call(url, ...more, "update", "box", "--policy", JSON.stringify(policy));
    expect(await update(INVALID)).toEqual({
      code: 1,
      stdout: "box: generation 2, a change\n",
      stderr:
        'box: generation 2 was rejected: policy.network.allow[0] must be "host:port", got "nowhere"; ' +
        "generation 1 stays in force\n",
    });
    expect(await update({ version: 1, env: { A: "b" } })).toEqual({
      code: 0,
      stdout: "box: generation 3, a change\n",
      stderr: "box: generation 3 was accepted\n",
    });
    const printed = await update(INVALID, "--json");
    const views = printed.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as SandboxView);
    expect(printed).toMatchObject({ code: 1, stderr: "" });
    expect(views.map(({ configuration }) => configuration.generation)).toEqual([4, 4]);
    await client.stop(id);
    expect(await update(INVALID)).toEqual({
      code: 0,
      stdout: "box: generation 5, the same content\n",
      stderr:
        "box: generation 5 is not judged yet: its supervisor does that, " +
        'see the condition ConfigurationReady of "get box"\n',
    });
    await removeAll(client);
  });

  it("takes a sandbox through its life, with plain lines, JSON and exit codes", async () => {
    const { url, client } = await start();
    const policy = JSON.stringify({ version: 1, env: { GREETING: "hello" } });
    const work = `require("fs").writeFileSync("greeting", process.env.GREETING); setInterval(() => {}, 1000)`;
    const created = await call(
      url,
      "create",
      "box",
      "--image",
      image,
      "--policy",
      policy,
      "--",
      process.execPath,
      "-e",
      work,
    );
    expect(created).toMatchObject({ code: 0, stdout: "" });
    expect(created.stderr).toMatch(/^\[\d+\.\ds\] ✓ Image copied \(image, 400 kB\) \(\d+\.\ds\)$/m);
    expect(created.stderr).toMatch(/^\[\d+\.\ds\] Ready\/DependenciesReady/m);
    const got = JSON.parse((await call(url, "--json", "get", "box")).stdout) as SandboxView;
    const workspace = join(dir, "data", "sandboxes", got.id, "workspace", "greeting");
    await eventually(
      "what the workload writes",
      async () => (await readFile(workspace, "utf8").catch(() => "")) === "hello",
    );
    expect(await call(url, "update", "box", "--policy", policy)).toEqual({
      code: 0,
      stdout: "box: generation 2, the same content\n",
      stderr: "box: generation 2 was accepted\n",
    });
    const stopped = await call(url, "stop", "box");
    expect(stopped.code).toBe(0);
    // The time is the command's, and the work of the start that is over is none of its.
    expect(stopped.stderr).toMatch(/^(\[\d+\.\ds\] (Stopping|Stopped)\/.*\n)+$/);
    expect((await call(url, "list")).stdout).toMatch(/^box {2}Stopped/);
    const started = await call(url, "--json", "start", "box");
    const lines = started.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as SandboxView);
    expect(lines.at(-1)).toMatchObject({ id: got.id, phase: "Ready", attempt: 2 });
    const deleted = await call(url, "delete", "box");
    expect(deleted.code).toBe(0);
    expect(deleted.stderr).toMatch(/^(\[\d+\.\ds\] Deleting\/.*\n)*\[\d+\.\ds\] box is gone\n$/);
    expect((await call(url, "get", "box")).code).toBe(3);
    await removeAll(client);
  });

  it("says with its exit code what went wrong", async () => {
    const { url, client } = await start("--admission-ms", "300");
    expect(await call("http://127.0.0.1:9", "list")).toMatchObject({ code: 4 });
    const unusable = await call(url, "--token", "…", "list");
    expect(unusable).toMatchObject({ code: 2 });
    expect(unusable.stderr).toContain("token must be printable ASCII characters");
    expect(await call(url, "create", "box", "--image", join(dir, "none"), "--", "true")).toMatchObject({
      code: 2,
    });
    expect(
      await call(url, "create", "box", "--image", image, "--stall-ms", "soon", "--", "true"),
    ).toMatchObject({ code: 2 });
    const failed = await call(
      url,
      "create",
      "box",
      "--image",
      image,
      "--policy",
      JSON.stringify(INVALID),
      "--",
      "true",
    );
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("Error/ProvisioningTimedOut");
    await removeAll(client);
  });
});

describe("a sandbox", () => {
  it("whose main process ends is Completed or failed by its exit code", async () => {
    const { client } = await start();
    const one = await client.create({ name: "ends", image: { path: image }, command: ["true"] });
    const other = await client.create({ name: "fails", image: { path: image }, command: ["false"] });
    const third = await client.create({
      name: "missing",
      image: { path: image },
      command: ["/no/such/program"],
    });
    expect(await until(client, one.id, ({ phase }) => phase === "Completed")).toMatchObject({ exitCode: 0 });
    const failed = await until(client, other.id, ({ phase }) => phase === "Error");
    expect(failed).toMatchObject({ reason: "MainProcessFailed", exitCode: 1 });
    expect(await until(client, third.id, ({ phase }) => phase === "Error")).toMatchObject({ exitCode: 127 });
    await removeAll(client);
  });

  it("leaves none of its children behind when its main process ends, however deaf they are", async () => {
    const { client } = await start();
    const script = "trap '' TERM; echo $$ > deaf; while :; do sleep 1; done";
    const main = `sh -c "$0" & sleep 60 & echo $! > quick; until test -s deaf; do sleep 0.05; done`;
    const box = await client.create({
      name: "box",
      image: { path: image },
      command: ["sh", "-c", main, script],
    });
    await until(client, box.id, ({ phase }) => phase === "Completed");
    for (const name of ["quick", "deaf"]) {
      const path = join(dir, "data", "sandboxes", box.id, "workspace", name);
      const pid = Number(await readFile(path, "utf8"));
      expect(pid).toBeGreaterThan(0);
      expect(await readStartMarker(pid), name).toBeNull();
    }
    await removeAll(client);
  });

  it.runIf(process.platform === "linux")("is stopped together with what left its group", async () => {
    const { client } = await start();
    const command = ["sh", "-c", "setsid sleep 60 & echo $! > pid; sleep 60"];
    const box = await client.create({ name: "box", image: { path: image }, command });
    const path = join(dir, "data", "sandboxes", box.id, "workspace", "pid");
    await until(client, box.id, ({ phase }) => phase === "Ready");
    const pid = await writtenPid(path);
    expect(await readStartMarker(pid)).not.toBeNull();
    await client.stop(box.id);
    await until(client, box.id, ({ phase }) => phase === "Stopped");
    expect(await readStartMarker(pid)).toBeNull();
    await removeAll(client);
  });

  it("whose supervisor is killed takes its main process with it, and says so", async () => {
    const { client } = await start();
    const work = `require("fs").writeFileSync("pid", String(process.pid)); setInterval(() => {}, 1000)`;
    const command = [process.execPath, "-e", work];
    const box = await client.create({ name: "box", image: { path: image }, command });
    const home = join(dir, "data", "sandboxes", box.id);
    const main = await writtenPid(join(home, "workspace", "pid"));
    await until(client, box.id, ({ phase }) => phase === "Ready");
    const { pid } = JSON.parse(await readFile(join(home, "supervisor.json"), "utf8")) as { pid: number };
    process.kill(pid, "SIGKILL");
    await until(client, box.id, ({ reason }) => reason === "LocalSupervisorLost");
    expect(await readStartMarker(main)).toBeNull();
    await removeAll(client);
  });

  it("does not get the gateway's secret", async () => {
    const { client } = await start();
    const dump = `require("fs").writeFileSync("env", JSON.stringify(process.env)); setInterval(() => {}, 1000)`;
    const box = await client.create({
      name: "box",
      image: { path: image },
      command: [process.execPath, "-e", dump],
    });
    const path = join(dir, "data", "sandboxes", box.id, "workspace", "env");
    // It is there, and empty, a moment before it is written.
    const text = await eventually(
      "its environment",
      async () => (await readFile(path, "utf8").catch(() => "")) || null,
    );
    expect(text).toContain(`"SLIPWAY_SANDBOX":"${box.id}"`);
    expect(text).not.toContain("SLIPWAY_TOKEN");
    await removeAll(client);
  });
});

/**
 * Stops a process where it is not in the middle of a write: until it went on, nobody else could write either, for a file
 * has one lock.
 */
async function stopBetweenWrites(pid: number, path: string): Promise<void> {
  const store = new Database(path, { timeout: 0 });
  try {
    await eventually("a moment between two writes", () => {
      process.kill(pid, "SIGSTOP");
      try {
        store.exec("BEGIN IMMEDIATE");
        store.exec("ROLLBACK");
        return Promise.resolve(true);
      } catch {
        process.kill(pid, "SIGCONT");
        return Promise.resolve(false);
      }
    });
  } finally {
    store.close();
  }
}

describe("two gateway processes on one store", () => {
  it("expire nothing wrongly when one of them slept over a renewal", async () => {
    // Half of it has to be enough for whatever a busy machine does in between.
    const windowMs = 10_000;
    const window = ["--admission-ms", String(windowMs)];
    const first = await start(...window, "--lease-ms", "1000");
    const second = await start(...window, "--lease-ms", "1000", "--port", "0");
    const box = await first.client.create({
      name: "box",
      image: { path: image },
      policy: INVALID,
      command: ["sleep", "60"],
    });
    const rejected = await until(second.client, box.id, ({ admission }) => admission === "rejected");
    const oldDeadline = rejected.deadline?.deadlineAt ?? 0;
    await stopBetweenWrites(first.gateway.pid ?? 0, join(dir, "data", "gateway.db"));
    await eventually("half the window", () => Promise.resolve(Date.now() > oldDeadline - windowMs / 2));
    const changed = { ...INVALID, env: { TRY: "2" } };
    const renewed = await second.client.update(box.id, { policy: changed });
    expect(renewed.deadline?.deadlineAt).toBeGreaterThan(oldDeadline);
    await eventually("the old deadline", () => Promise.resolve(Date.now() > oldDeadline + 100));
    process.kill(first.gateway.pid ?? 0, "SIGCONT");
    const seen = await first.client.get(box.id);
    expect(seen.deadline?.status).toBe("active");
    // The status follows from the time; the expiry is there once it is written.
    const expired = await until(first.client, box.id, ({ deadline }) => (deadline?.expiry ?? null) !== null);
    expect(expired.deadline?.expiry?.at).toBeGreaterThanOrEqual(renewed.deadline?.deadlineAt ?? Infinity);
    await until(second.client, box.id, ({ deadline }) => deadline?.cleanup.status === "done");
    await removeAll(second.client);
  });
});
