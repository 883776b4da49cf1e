import fc from "fast-check";
import { EventEmitter, once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { admission, Connections, type ConnectionLimits } from "../src/http/connections.js";
import { listen } from "../src/http/listen.js";
import { eventually } from "../src/testing/eventually.js";
import { StartedGateway } from "../src/testing/started-gateway.js";
import { FakeDriver } from "./fake-driver.js";
import { tempDir } from "./temp-dir.js";

const ended: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function start(connections: ConnectionLimits): Promise<StartedGateway> {
  const gateway = await StartedGateway.start({
    ...{ dataDir: await tempDir(), drivers: [new FakeDriver()], connections, port: 0 },
    ...{ ownerToken: "owner", metricsToken: "metrics", drainMs: 0 },
  });
  ended.push(() => gateway.close());
  return gateway;
}

async function open(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => undefined);
  ended.push(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Sends the bytes on a connection of their own, and reads until it ends. */
async function exchange(url: string, bytes: string): Promise<string> {
  const socket = await open(url);
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.write(bytes, "latin1");
  await once(socket, "close");
  return text;
}

/** A server that does nothing by itself with what the test tells it of. */
function deafServer(): Server {
  const server = createServer();
  server.removeAllListeners("connection");
  return server;
}

const get = (path: string, token = "owner"): string =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`;
const statusOf = (answer: string): number => Number(answer.split(" ")[1]);

describe("the limits of connections", () => {
  it("let in so many of one address and of all, some more for a look, and close the rest", () => {
    const limits = fc.record({
      perAddress: fc.integer({ min: 1, max: 50 }),
      all: fc.integer({ min: 1, max: 100 }),
    });
    // Most come from one address.
    const from = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 4 }));
    const addresses = fc.array(from, { maxLength: 300, size: "max" });
    fc.assert(
      fc.property(limits, addresses, (given, arrivals) => {
        const open = new Map<number, number>();
        const spare = new Map<number, number>();
        let [all, whole] = [0, 0];
        for (const address of arrivals) {
          const [ofAddress, spareOfAddress] = [open.get(address) ?? 0, spare.get(address) ?? 0];
          const { limit, isClosed } = admission({ ofAddress, spareOfAddress, all }, given);
          expect(limit === null).toBe(ofAddress < given.perAddress && all < given.all);
          if (isClosed) {
            expect(limit).not.toBeNull();
            continue;
          }
          open.set(address, ofAddress + 1);
          all += 1;
          if (limit === null) whole += 1;
          else spare.set(address, spareOfAddress + 1);
        }
        expect(whole).toBeLessThanOrEqual(given.all);
        expect(all).toBeLessThanOrEqual(given.all + 64);
        expect(Math.max(0, ...open.values())).toBeLessThanOrEqual(given.perAddress + 16);
        // No address keeps the others from having a look.
        expect(Math.max(0, ...spare.values())).toBeLessThanOrEqual(16);
      }),
      { seed: 8, numRuns: 200 },
    );
  });

  it.each([
    [{ perAddress: 3, all: 100 }, 429, "too-many-open", "address"],
    [{ perAddress: 100, all: 3 }, 503, "busy", "all"],
  ])(
    "answer probes and metrics beyond %j, and refuse everything else",
    async (limits, status, code, name) => {
      const { url } = await start(limits);
      const idle = await Promise.all([open(url), open(url), open(url)]);
      await eventually("all three are counted", async () =>
        (await exchange(url, get("/metrics", "metrics"))).includes("slipway_connections_open 4"),
      );
      const refused = await exchange(url, get("/v1/sandboxes"));
      expect(statusOf(refused)).toBe(status);
      expect(refused).toContain(`"${code}"`);
      expect(refused).toMatch(/^connection: close\r$/im);
      expect(refused).toMatch(/^retry-after: 5\r$/im);
      expect(statusOf(await exchange(url, get("/healthz")))).toBe(200);
      expect(statusOf(await exchange(url, get("/readyz")))).toBe(200);
      // A token is needed here as everywhere.
      expect(statusOf(await exchange(url, get("/metrics", "wrong")))).toBe(401);
      expect(await exchange(url, get("/metrics", "metrics"))).toMatch(
        new RegExp(`^slipway_connections_refused_total\\{limit="${name}"\\} [5-9]`, "m"),
      );
      idle[0].destroy();
      await eventually(
        "a place",
        async () => statusOf(await exchange(url, closing("/v1/sandboxes"))) === 200,
      );
    },
  );

  it("close what comes when the spare ones are taken, and count back to nothing", async () => {
    const { url } = await start({ perAddress: 2, all: 100 });
    const taken = await Promise.all(Array.from({ length: 18 }, () => open(url)));
    const more = await open(url);
    if (!more.closed) await once(more, "close");
    for (const socket of taken) socket.destroy();
    await eventually("only the connection that asks", async () =>
      (await exchange(url, closing("/metrics", "metrics"))).includes("slipway_connections_open 1\n"),
    );
  });

  it("know connections apart that have one end in common, and a later one from an earlier of the same ends", async () => {
    const connections = new Connections({ perAddress: 1, all: 10 });
    const server = deafServer();
    connections.watch(server);
    const come = (localAddress: string): EventEmitter => {
      const ends = { remoteAddress: "192.0.2.1", remotePort: 7, localAddress, localPort: 80 };
      const socket = Object.assign(new EventEmitter(), { ...ends, destroy: () => socket.emit("close") });
      server.emit("connection", socket);
      return socket;
    };
    const ask = async (socket: EventEmitter): Promise<number> => {
      const answer = connections.guard(() => Promise.resolve(new Response("in")));
      return (await answer(new Request("http://gateway/v1"), { incoming: { socket } })).status;
    };
    const first = come("192.0.2.10");
    const spare = [come("192.0.2.11"), come("192.0.2.12")];
    expect(await Promise.all([first, ...spare].map(ask))).toEqual([200, 429, 429]);
    spare[0]?.emit("close");
    expect(await Promise.all([first, spare[1] ?? first].map(ask))).toEqual([200, 429]);
    // The end of an earlier one is told after the next has come.
    const again = come("192.0.2.12");
    spare[1]?.emit("close");
    expect(await ask(again)).toBe(429);
    for (const socket of [first, again]) socket.emit("close");
    expect([connections.size, connections.addresses]).toEqual([0, 0]);
  });

  it("count a connection that was gone before it was looked at, and forget it", () => {
    const connections = new Connections({ perAddress: 1, all: 1 });
    const server = deafServer();
    connections.watch(server);
    const sockets = Array.from({ length: 3 }, () =>
      Object.assign(new EventEmitter(), { destroy: () => true }),
    );
    for (const socket of sockets) server.emit("connection", socket);
    expect([connections.size, connections.addresses]).toEqual([3, 1]);
    for (const socket of sockets) {
      socket.emit("close");
      socket.emit("close");
    }
    expect([connections.size, connections.addresses]).toEqual([0, 0]);
  });

  it("hold over TLS as well, where a request has another object for its connection", async () => {
    const connections = new Connections({ perAddress: 1, all: 10 });
    const { server } = await listen({
      fetch: connections.guard(() => Promise.resolve(new Response("in"))),
      ...{
        dataDir: await tempDir(),
        host: "127.0.0.1",
        port: 0,
        onServer: (made) => connections.watch(made),
      },
    });
    ended.push(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const first = await open(url);
    // Another object with the same ends, as a TLS socket over a TCP one.
    server.prependListener("request", (incoming) => {
      const { remoteAddress, remotePort, localAddress, localPort } = incoming.socket;
      const value = { remoteAddress, remotePort, localAddress, localPort };
      Object.defineProperty(incoming, "socket", { value });
    });
    expect(statusOf(await exchange(url, get("/")))).toBe(429);
    first.destroy();
    await eventually("a place", async () => statusOf(await exchange(url, closing("/"))) === 200);
    await eventually("nobody", () => Promise.resolve(connections.size === 0 && connections.addresses === 0));
  });
});

const closing = (path: string, token = "owner"): string =>
  get(path, token).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");

describe("a connection", () => {
  it("has limits of time for its requests, and for its silence", async () => {
    const { server } = await listen({
      fetch: () => Promise.resolve(new Response("in")),
      ...{ dataDir: await tempDir(), host: "127.0.0.1", port: 0 },
    });
    ended.push(() => server.close());
    const { headersTimeout, requestTimeout, timeout, keepAliveTimeout } = server;
    expect({ headersTimeout, requestTimeout, timeout, keepAliveTimeout }).toEqual({
      headersTimeout: 15_000,
      requestTimeout: 30_000,
      // More than a question may be held.
      timeout: 120_000,
      keepAliveTimeout: 5000,
    });
  });

  const POST = "POST /v1/sandboxes HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer owner\r\n";
  const NEXT = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer metrics\r\n\r\n";
  it.each([
    ["a length and chunks", `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${NEXT}`],
    ["chunks and a length", `${POST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${NEXT}`],
    ["two lengths", `${POST}Content-Length: 0\r\nContent-Length: 5\r\n\r\n{}${NEXT}`],
    ["a length with a sign", `${POST}Content-Length: +5\r\n\r\n{}${NEXT}`],
    [
      "an encoding that is not the last",
      `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${NEXT}`,
    ],
    ["a blank before the colon", `${POST}Content-Length : 5\r\n\r\n{}${NEXT}`],
    ["a bare line feed", `${POST.replaceAll("\r\n", "\n")}Content-Length: 0\n\n${NEXT}`],
    ["a chunk with a wrong length", `${POST}Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n${NEXT}`],
    ["no host", NEXT.replace("Host: 127.0.0.1\r\n", "")],
    ["headers without an end", `${POST}X: ${"x".repeat(20_000)}\r\n\r\n${NEXT}`],
    ["a NUL in a header", `${POST}X: a\0b\r\n\r\n${NEXT}`],
    ["a protocol of its own", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n"],
    ["no HTTP", `\x16\x03\x01\x02\x00${NEXT}`],
  ])("is not used on after %s", async (_, bytes) => {
    const { url } = await start({ perAddress: 100, all: 100 });
    const text = await exchange(url, bytes);
    expect(text).not.toMatch(/^HTTP\/1\.1 [23]/m);
    expect(text).not.toContain("slipway_");
  });

  it.each([
    ["an absolute address", "GET http://elsewhere.example/v1/sandboxes HTTP/1.1", 401],
    ["a host that is none", "GET /v1/sandboxes HTTP/1.1\r\nHost: a b/c", 400],
    ["two slashes", "GET //v1/sandboxes HTTP/1.1", 404],
    ["steps up", "GET /healthz/../v1/sandboxes HTTP/1.1", 401],
    ["encoded steps up", "GET /healthz/%2e%2e/v1/sandboxes HTTP/1.1", 401],
    ["a trailing slash", "GET /v1/sandboxes/ HTTP/1.1", 401],
    ["another case", "GET /V1/sandboxes HTTP/1.1", 404],
    ["an encoded letter", "GET /v%31/sandboxes HTTP/1.1", 401],
    ["an encoded slash", "GET /v1%2fsandboxes HTTP/1.1", 404],
    ["the methods that there are", "OPTIONS * HTTP/1.1", 400],
    ["an echo", "TRACE /v1/sandboxes HTTP/1.1", 401],
    [
      "a method that overrides",
      "GET /v1/sandboxes?_method=DELETE HTTP/1.1\r\nX-HTTP-Method-Override: DELETE",
      401,
    ],
  ])("opens nothing without a token by %s", async (_, line, status) => {
    const { url } = await start({ perAddress: 100, all: 100 });
    const text = await exchange(
      url,
      `${line}${line.includes("Host") ? "" : "\r\nHost: 127.0.0.1"}\r\nConnection: close\r\n\r\n`,
    );
    expect(statusOf(text)).toBe(status);
    expect(text).not.toContain('"items"');
  });

  it("takes the first of two credentials for one that is none", async () => {
    const { url } = await start({ perAddress: 100, all: 100 });
    const two = "Authorization: Bearer wrong\r\nAuthorization: Bearer owner\r\n";
    const text = await exchange(
      url,
      `GET /v1/sandboxes HTTP/1.1\r\nHost: 127.0.0.1\r\n${two}Connection: close\r\n\r\n`,
    );
    expect(statusOf(text)).toBe(401);
  });
});
