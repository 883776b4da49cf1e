import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isAllowed } from "../src/supervisor/enforcement/allow-list.js";
import { EnforcingProxy } from "../src/supervisor/enforcement/proxy.js";

describe("the allow list", () => {
  it.each([
    ["example.com:443", "example.com", 443, true],
    ["Example.COM:443", "eXample.com.", 443, true],
    ["example.com:443", "example.com", 80, false],
    ["example.com:443", "example.com.evil.test", 443, false],
    ["example.com:443", "notexample.com", 443, false],
    ["*.example.com:443", "a.b.example.com", 443, true],
    ["*.example.com:443", "example.com", 443, false],
    ["*.example.com:443", "evil-example.com", 443, false],
    ["*:80", "10.0.0.1", 80, true],
    ["*:80", "::1", 80, true],
    ["*:80", "[::1]", 80, true],
    ["api-*.test:80", "api-7.test", 80, true],
    ["api-*.test:80", "api-.tes", 80, false],
    ["10.0.0.1:80", "10.0.0.10", 80, false],
  ])("%s and %s:%i: %s", (entry, host, port, allowed) => {
    expect(isAllowed([entry], host, port)).toBe(allowed);
  });

  it("allows everything when there is none, and nothing when it is empty", () => {
    expect([isAllowed(null, "a", 1), isAllowed([], "a", 1)]).toEqual([true, false]);
  });

  it("matches as the same pattern written as a regular expression does", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", ".", "-"), maxLength: 12 });
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", ".", "*"), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (entry, host) => {
        fc.pre(!entry.endsWith(".") && !host.endsWith("."));
        const expected = new RegExp(`^${entry.replaceAll(".", "\\.").replaceAll("*", ".*")}$`).test(host);
        expect(isAllowed([`${entry}:1`], host, 1)).toBe(expected);
      }),
    );
  });

  it("is not slowed down by a pattern made for it", () => {
    const entry = `${"*a".repeat(500)}b:1`;
    // Who tries all ways to match it does not come to an end.
    expect(isAllowed([entry], "a".repeat(5000), 1)).toBe(false);
  });
});

describe("the proxy", () => {
  let proxy: EnforcingProxy;
  let port: number;
  let target: Server;
  let targetPort: number;
  const seen: { url: string | undefined; headers: IncomingMessage["headers"]; body: string }[] = [];
  const sockets: Socket[] = [];

  beforeEach(async () => {
    seen.length = 0;
    target = createServer((incoming, response) => {
      let body = "";
      incoming.on("data", (data: Buffer) => (body += data.toString()));
      incoming.on("end", () => {
        seen.push({ url: incoming.url, headers: incoming.headers, body });
        response.setHeader("connection", "close, x-private");
        response.setHeader("x-private", "1");
        response.setHeader("x-kept", "1");
        response.writeHead(201).end(`got ${body}`);
      });
    });
    target.listen(0, "127.0.0.1");
    await once(target, "listening");
    targetPort = (target.address() as AddressInfo).port;
    proxy = new EnforcingProxy();
    port = await proxy.listen();
  });

  afterEach(() => {
    proxy.close();
    target.close();
    target.closeAllConnections();
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  async function plain(path: string, options: { headers?: Record<string, string>; body?: string } = {}) {
    const { headers = {}, body = "" } = options;
    const outgoing = request({ host: "127.0.0.1", port, path, method: "POST", headers });
    outgoing.end(body);
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of response) text += String(chunk);
    return { status: response.statusCode, headers: response.headers, text };
  }

  /** What comes back for a first line, and the socket to go on with. */
  async function raw(first: string): Promise<{ socket: Socket; head: string }> {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.write(first);
    const [data] = (await once(socket, "data")) as [Buffer];
    return { socket, head: data.toString() };
  }

  const tunnel = (to: string) => raw(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n\r\n`);

  it("lets nothing through before it was given a policy", async () => {
    expect((await plain(`http://127.0.0.1:${targetPort}/`)).status).toBe(403);
    expect((await tunnel(`127.0.0.1:${targetPort}`)).head).toMatch(/^HTTP\/1\.1 403 /);
    expect(seen).toEqual([]);
  });

  it("forwards a plain request that is allowed, without what is of one connection", async () => {
    proxy.goBy([`127.0.0.1:${targetPort}`], 1);
    const headers = {
      host: "elsewhere.example",
      "proxy-authorization": "Basic c2VjcmV0",
      connection: "x-hop",
      "x-hop": "1",
      "x-kept": "2",
    };
    const answer = await plain(`http://127.0.0.1:${targetPort}/a?b=c`, { headers, body: "hello" });
    expect(answer).toMatchObject({ status: 201, text: "got hello", headers: { "x-kept": "1" } });
    expect(answer.headers["x-private"]).toBeUndefined();
    expect(seen[0]).toMatchObject({ url: "/a?b=c", body: "hello" });
    // The name that was checked, and not the one that the client wrote beside it.
    expect(seen[0]?.headers).toMatchObject({ host: `127.0.0.1:${targetPort}`, "x-kept": "2" });
    expect(Object.keys(seen[0]?.headers ?? {})).not.toContain("proxy-authorization");
    expect(Object.keys(seen[0]?.headers ?? {})).not.toContain("x-hop");
  });

  it("opens a tunnel that is allowed, and ends it when the policy is tightened", async () => {
    proxy.goBy([`127.0.0.1:${targetPort}`], 1);
    const { socket, head } = await tunnel(`127.0.0.1:${targetPort}`);
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    socket.write("POST /t HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\nhi");
    expect(String(((await once(socket, "data")) as [Buffer])[0])).toMatch(/^HTTP\/1\.1 201 /);
    const other = await tunnel(`127.0.0.1:${targetPort}`);
    const closed = once(other.socket, "close");
    proxy.goBy(["example.com:443"], 2);
    await closed;
    expect((await tunnel(`127.0.0.1:${targetPort}`)).head).toContain("network.allow does not name");
  });

  it("carries what one side of a tunnel still says when the other has said all", async () => {
    proxy.goBy(null, 1);
    let heard = "";
    const polite = createTcpServer({ allowHalfOpen: true }, (socket) => {
      socket.end("all that I say");
      socket.on("data", (data: Buffer) => (heard += data.toString()));
    });
    polite.listen(0, "127.0.0.1");
    await once(polite, "listening");
    const { port: politePort } = polite.address() as AddressInfo;
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    sockets.push(socket);
    let said = "";
    socket.on("data", (data: Buffer) => (said += data.toString()));
    socket.write(`CONNECT 127.0.0.1:${politePort} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await once(socket, "end");
    expect(said).toMatch(/\r\n\r\nall that I say$/);
    const closed = once(polite, "close");
    socket.end("x".repeat(1_000_000));
    polite.close();
    await closed;
    expect(heard).toHaveLength(1_000_000);
    if (!socket.closed) await once(socket, "close");
  });

  it("ends a plain request that is under way when the policy is tightened, and no other", async () => {
    const open = createServer((_request, response) => response.write("the beginning"));
    open.listen(0, "127.0.0.1");
    await once(open, "listening");
    const { port: openPort } = open.address() as AddressInfo;
    proxy.goBy(null, 1);
    const get = (host: string) => raw(`GET http://${host}:${openPort}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    const [forbidden, allowed] = [await get("127.0.0.1"), await get("localhost")];
    const closed = once(forbidden.socket, "close");
    proxy.goBy([`localhost:${openPort}`], 2);
    await closed;
    expect([forbidden.socket.closed, allowed.socket.closed]).toEqual([true, false]);
    allowed.socket.destroy();
    open.closeAllConnections();
    open.close();
  });

  it("says what it goes by, and to nobody that it forwards", async () => {
    proxy.goBy([], 7);
    const response = await fetch(`http://127.0.0.1:${port}/.slipway/ready`);
    expect(await response.json()).toEqual({ ready: true, revision: 7 });
  });

  it.each([
    ["CONNECT", "CONNECT nonsense HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["a port out of range", "CONNECT a:99999 HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["user info", "CONNECT u@a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["a path", "GET /etc HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["another scheme", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["no HTTP", "hello\r\n\r\n", 400],
    [
      "a change of protocol",
      "GET http://a/ HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
      501,
    ],
  ])("refuses %s", async (_what, first, status) => {
    proxy.goBy(null, 1);
    expect((await raw(first)).head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  /** Everything that comes back for these bytes, until the proxy ends the connection. */
  async function said(bytes: string): Promise<string> {
    const { socket, head } = await raw(bytes);
    let text = head;
    socket.on("data", (data: Buffer) => (text += data.toString()));
    if (!socket.closed) await once(socket, "close");
    return text;
  }

  /** What comes back for a request to a target that answers with these bytes. */
  async function saidFor(answer: string, version = "HTTP/1.1"): Promise<string> {
    const odd = createTcpServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(answer, "latin1"));
    });
    odd.listen(0, "127.0.0.1");
    await once(odd, "listening");
    const { port: oddPort } = odd.address() as AddressInfo;
    const text = await said(
      `GET http://127.0.0.1:${oddPort}/ ${version}\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    odd.close();
    return text;
  }

  it.each([
    ["a status below all", "HTTP/1.1 099 X\r\ncontent-length: 0\r\n\r\n"],
    ["no status", "HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n"],
    ["a control character in the status text", "HTTP/1.1 200 \u0001\r\ncontent-length: 0\r\n\r\n"],
    ["a control character in a header", "HTTP/1.1 200 OK\r\nx: a\u0001b\r\ncontent-length: 0\r\n\r\n"],
    ["a preliminary answer alone", "HTTP/1.1 199 X\r\n\r\n"],
    ["a change of protocol", "HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: y\r\n\r\n"],
    ["no HTTP", "hello\r\n\r\n"],
  ])("says 502 for an answer that cannot be passed on, and goes on: %s", async (_what, answer) => {
    proxy.goBy(null, 1);
    const text = await saidFor(answer);
    expect(text).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/);
    expect(text).toContain("x-slipway-proxy: 1");
    expect((await plain(`http://127.0.0.1:${targetPort}/`)).status).toBe(201);
  });

  it("breaks an answer off where the target's breaks off", async () => {
    proxy.goBy(null, 1);
    expect(await saidFor("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc")).toMatch(
      /^HTTP\/1\.1 200 [^]*abc$/,
    );
  });

  it("gives a client of HTTP/1.0 no transfer coding", async () => {
    proxy.goBy(null, 1);
    const chunked = (coding: string) =>
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: ${coding}\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
    const plainly = await saidFor(chunked("Chunked"), "HTTP/1.0");
    expect(plainly).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nabc$/);
    expect(plainly).not.toMatch(/transfer-encoding/i);
    expect(await saidFor(chunked("gzip, chunked"), "HTTP/1.0")).toMatch(/^HTTP\/1\.1 502 /);
    expect(await saidFor(chunked("gzip, chunked"))).toMatch(
      /Transfer-Encoding: gzip, chunked\r\n[^]*\r\nabc\r\n/,
    );
  });

  it("leaves a body its length whatever a request says of the connection: no second request is in it", async () => {
    proxy.goBy(null, 1);
    const hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
    const head = `GET http://127.0.0.1:${targetPort}/open HTTP/1.1\r\nHost: a\r\nContent-Length: ${hidden.length}\r\n`;
    await said(`${head}Connection: close, content-length\r\n\r\n${hidden}`);
    expect(seen).toMatchObject([{ url: "/open", body: hidden }]);
  });

  it("says 502 where nobody answers, and survives a client and a target that drop the connection", async () => {
    proxy.goBy(null, 1);
    const dropping = createTcpServer((socket) => socket.destroy());
    dropping.listen(0, "127.0.0.1");
    await once(dropping, "listening");
    const dropPort = (dropping.address() as AddressInfo).port;
    expect((await plain(`http://127.0.0.1:${dropPort}/`)).status).toBe(502);
    dropping.close();
    await once(dropping, "close");
    expect((await plain(`http://127.0.0.1:${dropPort}/`)).status).toBe(502);
    expect((await tunnel(`127.0.0.1:${dropPort}`)).head).toMatch(/^HTTP\/1\.1 502 /);
    const rude = connect(port, "127.0.0.1", () => {
      rude.write(`CONNECT 127.0.0.1:${targetPort} HTTP/1.1\r\nHost: a\r\n\r\n`);
      rude.resetAndDestroy();
    });
    await once(rude, "close");
    expect((await plain(`http://127.0.0.1:${targetPort}/`)).status).toBe(201);
  });
});
