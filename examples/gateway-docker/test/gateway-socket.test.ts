import { StartedGateway, TempDirs } from "@slipway-examples/gateway-core/testing";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import {
  connect,
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
} from "node:net";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SOCKET_NAME } from "../src/container-spec.js";
import { dockerDrivers } from "../src/docker-drivers.js";
import { GatewaySocket } from "../src/gateway-socket.js";

const dirs = new TempDirs();
const ROUTE = "/v1/supervisor/attempt/steps";

interface Heard {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Whether anybody listens behind the socket of this folder. */
async function answers(dataDir: string): Promise<boolean> {
  const socket = connect(join(dataDir, "door", SOCKET_NAME));
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}

describe("a door of several gateways' folder", () => {
  afterEach(() => dirs.remove());

  it("is of the one that opened it last, also when the one before closes", async () => {
    const dataDir = await dirs.make();
    const before = await GatewaySocket.open(dataDir);
    const after = await GatewaySocket.open(dataDir);
    before.close();
    expect(await answers(dataDir)).toBe(true);
    after.close();
    expect(await answers(dataDir)).toBe(false);
    expect(await readdir(join(dataDir, "door"))).toEqual([SOCKET_NAME]);
  });

  it("ends with its gateway, and with a start that failed", async () => {
    const dataDir = await dirs.make();
    const drivers = dockerDrivers({ socket: true, dockerHost: `unix://${dataDir}/no-engine` });
    const gateway = await StartedGateway.start({ drivers, dataDir });
    expect(await answers(dataDir)).toBe(true);
    await gateway.close();
    expect(await answers(dataDir)).toBe(false);
    let made = 0;
    const failing: typeof drivers = async (context) => {
      const found = await drivers(context);
      made += Number(await answers(dataDir));
      return [...found, ...found];
    };
    await expect(StartedGateway.start({ drivers: failing, dataDir })).rejects.toThrow(/different names/);
    expect(made).toBe(1);
    expect(await answers(dataDir)).toBe(false);
  });
});

describe("the door of sandboxes without a network", () => {
  let door: GatewaySocket;
  let gateway: Server;
  const heard: Heard[] = [];
  const servers: TcpServer[] = [];

  beforeEach(async () => {
    heard.length = 0;
    gateway = createServer((request, response) => {
      let body = "";
      request.on("data", (data: Buffer) => (body += data.toString()));
      request.on("end", () => {
        heard.push({ method: request.method, url: request.url, headers: request.headers, body });
        response.writeHead(200, { connection: "keep-alive, x-private", "x-private": "1", "x-kept": "1" });
        response.end(`heard ${body}`);
      });
    });
    door = await GatewaySocket.open(await dirs.make());
    await door.leadTo(`http://127.0.0.1:${await listening(gateway)}`);
  });

  afterEach(async () => {
    door.close();
    gateway.close();
    gateway.closeAllConnections();
    for (const server of servers.splice(0)) server.close();
    await dirs.remove();
  });

  async function listening(server: TcpServer): Promise<number> {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }

  /** Everything that comes back for these bytes, until the door ends the connection. */
  async function said(bytes: string): Promise<string> {
    const socket = connect(join(door.dir, SOCKET_NAME));
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (data: string) => (text += data));
    socket.write(bytes, "latin1");
    await once(socket, "close");
    return text;
  }

  /** A request that is the last one of its connection. */
  const asked = (method: string, headers: readonly string[], body = "", version = "1.1") =>
    said([`${method} ${ROUTE} HTTP/${version}`, "host: a", ...headers, "", body].join("\r\n"));

  /** From now on the door leads to one that answers everything with these bytes. */
  async function leadToOneThatSays(bytes: string): Promise<void> {
    const server = createTcpServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(bytes, "latin1"));
    });
    servers.push(server);
    await door.leadTo(`http://127.0.0.1:${await listening(server)}`);
  }

  it("leads to no gateway that speaks TLS: nobody behind it would reach that", async () => {
    await expect(door.leadTo("https://127.0.0.1:7300")).rejects.toMatchObject({
      name: "PermanentDriverError",
      reason: "ContainerCreateFailed",
      message: expect.stringContaining("plain HTTP") as string,
    });
    expect(await asked("GET", ["connection: close"])).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it("passes on what a supervisor asks and what it is told, without what is of one connection", async () => {
    const headers = [
      "connection: close, x-hop",
      "x-hop: 1",
      "x-kept: 2",
      "te: trailers",
      "content-length: 2",
    ];
    const answer = await asked("POST", [...headers, "authorization: Bearer t"], "hi");
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toMatch(/\r\nx-kept: 1\r\n/);
    expect(answer).toMatch(/heard hi/);
    expect(answer).not.toContain("x-private");
    expect(heard).toMatchObject([{ method: "POST", url: ROUTE, body: "hi" }]);
    const { authorization, host, te, "x-hop": hop, "x-kept": kept } = heard[0]?.headers ?? {};
    expect({ authorization, hop, kept, te }).toEqual({
      authorization: "Bearer t",
      hop: undefined,
      kept: "2",
      te: undefined,
    });
    expect(host).toBe(`127.0.0.1:${(gateway.address() as AddressInfo).port}`);
  });

  it.each([
    ["with a body", "POST", ["trailer: x", "content-length: 2"], "hi", "1.1"],
    ["of HTTP/1.0", "POST", ["trailer: x", "content-length: 2"], "hi", "1.0"],
    [
      "named by the connection",
      "POST",
      ["connection: close, trailer", "trailer: x", "content-length: 2"],
      "hi",
      "1.1",
    ],
    ["without a body", "POST", ["trailer: x"], "", "1.1"],
    ["of a GET", "GET", ["trailer: x"], "", "1.1"],
    ["of a DELETE", "DELETE", ["trailer: x", "content-length: 0"], "", "1.1"],
    [
      "of a body in chunks",
      "POST",
      ["trailer: x", "transfer-encoding: chunked"],
      "2\r\nhi\r\n0\r\nx: y\r\n\r\n",
      "1.1",
    ],
  ])(
    "is not brought down by trailers that are announced: a request %s",
    async (_, method, headers, body, version) => {
      const closing = headers.some((header) => header.startsWith("connection")) ? [] : ["connection: close"];
      expect(await asked(method, [...headers, ...closing], body, version)).toMatch(/^HTTP\/1\.1 200 /);
      expect(heard).toMatchObject([{ method, body: body === "" ? "" : "hi" }]);
      expect(heard[0]?.headers["trailer"]).toBeUndefined();
    },
  );

  it.each(["GET", "POST"])(
    "leaves a body its length whatever a %s says of the connection: no second request is in it",
    async (method) => {
      const hidden = "GET /v1/sandboxes HTTP/1.1\r\nhost: a\r\n\r\n";
      const length = `content-length: ${hidden.length}`;
      const answer = await asked(method, ["connection: close, content-length, host", length], hidden);
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(heard).toMatchObject([{ url: ROUTE, body: hidden }]);
    },
  );

  it("overlooks no header for their number: not the one that says how long the body is", async () => {
    const hidden = "GET /v1/sandboxes HTTP/1.1\r\nhost: a\r\n\r\n";
    const many = Array.from({ length: 2500 }, () => "a:");
    const answer = await asked(
      "GET",
      [...many, `content-length: ${hidden.length}`, "connection: close"],
      hidden,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(heard).toMatchObject([{ url: ROUTE, body: hidden }]);
  });

  it.each([
    ["a status below all", "HTTP/1.1 099 X\r\ncontent-length: 0\r\n\r\n"],
    ["no status", "HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n"],
    ["a control character in the status text", "HTTP/1.1 200 \u0001\r\ncontent-length: 0\r\n\r\n"],
    ["a control character in a header", "HTTP/1.1 200 OK\r\nx: a\u0001b\r\ncontent-length: 0\r\n\r\n"],
    ["a change of protocol", "HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: y\r\n\r\n"],
    ["no HTTP", "hello\r\n\r\n"],
    ["nothing", ""],
  ])("says 502 for an answer that cannot be passed on: %s", async (_, bytes) => {
    await leadToOneThatSays(bytes);
    expect(await asked("POST", ["connection: close", "content-length: 2"], "hi")).toMatch(/^HTTP\/1\.1 502 /);
  });

  it("ends an answer where the gateway's breaks off", async () => {
    await leadToOneThatSays("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc");
    const answer = await asked("GET", ["connection: close"]);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*abc$/);
  });

  it("opens to nothing but supervisors' routes", async () => {
    for (const path of ["/v1/sandboxes", "/v1/supervisor/../sandboxes", "/v1/supervisor/%2e%2e/sandboxes"]) {
      const answer = await said(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
      expect(answer, path).toMatch(/^HTTP\/1\.1 404 /);
    }
    expect(heard).toEqual([]);
  });
});
