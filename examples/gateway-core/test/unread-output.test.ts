import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GatewayClient } from "../src/client/gateway-client.js";
import { eventually } from "../src/testing/eventually.js";
import { tempDir } from "./temp-dir.js";

const CLI = join(import.meta.dirname, "../dist/cli.js");

let gateway: ChildProcess;
let url: URL;

beforeEach(async () => {
  const command = [CLI, "serve", "--data", await tempDir(), "--port", "0"];
  gateway = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "pipe"] });
  gateway.stderr?.resume();
  const [line] = (await once(createInterface({ input: gateway.stdout as Readable }), "line")) as [string];
  url = new URL(/http:\S+/.exec(line)?.[0] ?? "");
});

afterEach(async () => {
  if (gateway.exitCode !== null || gateway.signalCode !== null) return;
  gateway.kill("SIGKILL");
  await once(gateway, "exit");
});

/** Nobody reads from this pipe any more. */
async function leave(pipe: Readable | null): Promise<void> {
  if (pipe === null) throw new Error("this output is no pipe");
  pipe.destroy();
  if (!pipe.closed) await once(pipe, "close");
}

const BODY = JSON.stringify({ name: "box", image: { path: "/nowhere" }, command: ["true"] });

/** A request of which the gateway has only the beginning. */
async function halfARequest(): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname);
  const head = `POST /v1/sandboxes HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}content-length: ${BODY.length}\r\nexpect: 100-continue\r\n\r\n`);
  await once(socket, "data");
  socket.write(BODY.slice(0, 10));
  return socket;
}

async function takesConnections(): Promise<boolean> {
  const socket = connect(Number(url.port), url.hostname);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describe("a gateway whose output nobody reads any more", () => {
  it("goes on without a log", async () => {
    await leave(gateway.stderr);
    const client = new GatewayClient({ url: url.href });
    const box = { image: { path: await tempDir() }, command: ["true"] };
    for (const name of ["one", "two"]) await client.create({ ...box, name });
    expect((await client.list()).items).toHaveLength(2);
    // A supervisor outlives its gateway: what was started here would wait for one for two hours.
    for (const name of ["one", "two"]) await client.delete(name);
    await eventually("that both are gone", async () => (await client.list()).items.length === 0);
    gateway.kill("SIGTERM");
    expect(await once(gateway, "exit")).toEqual([0, null]);
  });

  it("ends in good order: what is under way is answered", async () => {
    await leave(gateway.stdout);
    const request = await halfARequest();
    gateway.kill("SIGTERM");
    await eventually("that it ends", async () => !(await takesConnections()));
    request.write(BODY.slice(10));
    const [answer] = (await once(request, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 \d/);
    request.destroy();
    expect(await once(gateway, "exit")).toEqual([0, null]);
  });
});
