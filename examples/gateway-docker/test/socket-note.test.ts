import { TempDirs } from "@slipway-examples/gateway-core/testing";
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SOCKET_NAME } from "../src/container-spec.js";
import { GatewaySocket } from "../src/gateway-socket.js";

const dirs = new TempDirs();
let dataDir: string;
let gateway: Server;
let url: string;
let doors: GatewaySocket[];

beforeEach(async () => {
  dataDir = await dirs.make();
  doors = [];
  gateway = createServer((_request, response) => response.end("gateway"));
  gateway.listen(0, "127.0.0.1");
  await once(gateway, "listening");
  url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
});

afterEach(async () => {
  for (const door of doors) door.close();
  gateway.closeAllConnections();
  gateway.close();
  await dirs.remove();
});

async function open(): Promise<GatewaySocket> {
  const door = await GatewaySocket.open(dataDir);
  doors.push(door);
  return door;
}

/** What a sandbox is answered. */
async function asked(): Promise<number | undefined> {
  const socketPath = join(dataDir, "door", SOCKET_NAME);
  const sent = request({ socketPath, path: "/v1/supervisor/sb/configuration" }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

const note = () => readFile(join(dataDir, "door.json"), "utf8");

describe("where the socket for sandboxes leads", () => {
  it("is kept for the next process, whatever the case of its scheme", async () => {
    const shouted = url.replace("http:", "HTTP:");
    await (await open()).leadTo(shouted);
    expect(JSON.parse(await note())).toEqual({ url: shouted });
    await open();
    expect(await asked()).toBe(200);
  });

  it("is written down by a later launch where it could not be before", async () => {
    const door = await open();
    const inTheWay = join(dataDir, "door.json.new");
    await mkdir(inTheWay);
    await expect(door.leadTo(url)).rejects.toMatchObject({ code: "EISDIR" });
    await rm(inTheWay, { recursive: true });
    await door.leadTo(url);
    expect(JSON.parse(await note())).toEqual({ url });
  });

  it("is written down once for launches that come together", async () => {
    const door = await open();
    await Promise.all([door.leadTo(url), door.leadTo(url), door.leadTo(url)]);
    expect(JSON.parse(await note())).toEqual({ url });
    expect(await asked()).toBe(200);
  });

  it.each([
    ["no URL", JSON.stringify({ url: "nowhere" })],
    ["no plain HTTP", JSON.stringify({ url: "https://127.0.0.1:1" })],
    ["no text", JSON.stringify({ url: 7 })],
    ["nothing", "null"],
    ["half of it", '{"url":"http://127'],
  ])("is nowhere by a note that has %s: no sandbox ends the gateway by asking", async (_what, text) => {
    await writeFile(join(dataDir, "door.json"), text);
    const door = await open();
    expect(await asked()).toBe(503);
    await door.leadTo(url);
    expect(await asked()).toBe(200);
    expect(JSON.parse(await note())).toEqual({ url });
  });

  it("is refused where it is no URL at all", async () => {
    await expect((await open()).leadTo("http:nowhere at all")).rejects.toMatchObject({
      reason: "ContainerCreateFailed",
    });
  });
});
