import Database from "libsql";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readStartMarker } from "../src/driver/process-identity.js";
import { eventually } from "../src/testing/eventually.js";
import { INVALID, removeAll, ServedProcesses, until } from "./served-processes.js";
import { writtenPid } from "./written-pid.js";

let served: ServedProcesses;
let dir: string;
let image: string;

beforeEach(async () => {
  served = await ServedProcesses.open();
  ({ dir, image } = served);
});

afterEach(() => served.end());

const start = (...args: readonly string[]) => served.start(...args);

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
