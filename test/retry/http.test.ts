import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, get, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTcp, connect, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { AttemptFailure } from "../../src/retry/index.js";
import { failureOf } from "./attempt.js";

const open: Server[] = [];

async function listen(server: Server): Promise<string> {
  open.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = (listener: RequestListener): Promise<string> => listen(createServer(listener));

afterEach(() => {
  for (const server of open.splice(0)) {
    server.close();
    if ("closeAllConnections" in server) (server.closeAllConnections as () => void).call(server);
  }
});

const viaFetch = (url: string, timeoutMs?: number): Promise<AttemptFailure> =>
  failureOf(async (signal) => {
    const response = await fetch(url, { signal });
    await response.body?.cancel();
    // A response that is thrown as it is: what many wrappers of fetch do.
    const thrown: unknown = response;
    if (!response.ok) throw thrown;
    return response.status;
  }, timeoutMs);

const viaNode = (url: string, timeoutMs?: number): Promise<AttemptFailure> =>
  failureOf(
    (signal) =>
      new Promise((resolve, reject) => {
        get(url, { signal, agent: false }, (response: IncomingMessage) => {
          response.resume().on("error", reject);
          const { statusCode = 0, headers } = response;
          if (statusCode < 300) response.on("end", resolve);
          else reject(Object.assign(new Error(`Answered ${statusCode}`), { statusCode, headers }));
        }).on("error", reject);
      }),
    timeoutMs,
  );

describe.each([
  ["fetch", viaFetch],
  ["node:http", viaNode],
])("HTTP failures through %s", (name, send) => {
  it.each([
    [401, {}, "permanent", null],
    [403, {}, "permanent", null],
    [403, { "Retry-After": "7" }, "transient", 7000],
    [404, {}, "suspect", null],
    [429, { "Retry-After": "3" }, "transient", 3000],
    [429, {}, "transient", null],
    [503, { "Retry-After": "soon" }, "transient", null],
    [503, {}, "transient", null],
    [500, {}, "suspect", null],
    [501, {}, "permanent", null],
    [426, {}, "permanent", null],
  ] as const)("a real %i with %j is %s", async (code, headers, verdict, hintMs) => {
    const url = await serve((_request, response) => response.writeHead(code, headers).end());
    expect(await send(url)).toMatchObject({ verdict, code: `HTTP_${code}`, hintMs });
  });

  it("a server that nobody started is transient", async () => {
    const server = createTcp();
    const url = await listen(server);
    server.close();
    await once(server, "close");
    expect(await send(url)).toMatchObject({ verdict: "transient", code: "ECONNREFUSED" });
  });

  it("a server that hangs before its headers is cut off by the attempt's own limit", async () => {
    const url = await serve(() => undefined);
    expect(await send(url, 50)).toMatchObject({
      verdict: "transient",
      code: "ATTEMPT_TIMEOUT",
      kind: "timeout",
    });
  });

  it("a server that resets the connection is transient", async () => {
    const url = await listen(createTcp((socket) => socket.once("data", () => socket.resetAndDestroy())));
    expect(await send(url)).toMatchObject({ verdict: "transient", kind: "network" });
  });

  it("a server that closes without an answer is transient", async () => {
    const url = await listen(createTcp((socket) => socket.once("data", () => socket.end())));
    expect(await send(url)).toMatchObject({ verdict: "transient", kind: "network" });
  });

  it("a body that breaks off is transient", async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { "Content-Length": "1000" }).write("half");
      setImmediate(() => response.destroy());
    });
    const failure =
      name === "fetch"
        ? await failureOf(async (signal) => (await fetch(url, { signal })).text())
        : await send(url);
    expect(failure).toMatchObject({ verdict: "transient", kind: "network" });
  });

  it("a server that does not speak HTTP is suspect", async () => {
    const url = await listen(createTcp((socket) => socket.end("SSH-2.0-something\r\n")));
    expect((await send(url)).verdict).toBe("suspect");
  });

  it("a name that does not resolve is transient", async () => {
    const failure = await send("http://gateway.invalid/");
    expect(failure.verdict).toBe("transient");
    expect(["ENOTFOUND", "EAI_AGAIN"]).toContain(failure.code);
  });

  it.each(["http://127.0.0.1:99999/", "notaurl", "gopher://127.0.0.1/"])(
    "the address %s is permanent",
    async (url) => {
      expect((await send(url)).verdict).toBe("permanent");
    },
  );
});

describe("sockets and files", () => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-retry-"));
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it("a unix socket that does not exist yet is transient", async () => {
    const path = join(dir, "sidecar.sock");
    const failure = await failureOf(
      () => new Promise((resolve, reject) => connect(path).on("connect", resolve).on("error", reject)),
    );
    expect(failure).toMatchObject({ verdict: "transient", code: "ENOENT" });
  });

  it("a missing CA file is permanent, a missing token is suspect", async () => {
    expect(await failureOf(() => readFileSync(join(dir, "tls", "ca.crt")))).toMatchObject({
      verdict: "permanent",
      kind: "configuration",
      code: "ENOENT",
    });
    expect(await failureOf(() => readFileSync(join(dir, "token")))).toMatchObject({
      verdict: "suspect",
      code: "ENOENT",
    });
    expect(await failureOf(() => readFileSync(tmpdir()))).toMatchObject({
      verdict: "suspect",
      code: "EISDIR",
    });
  });

  it("several addresses that all refuse are transient", async () => {
    const server = createTcp();
    const url = new URL(await listen(server));
    server.close();
    await once(server, "close");
    const failure = await failureOf(() => fetch(`http://localhost:${url.port}`));
    expect(failure).toMatchObject({ verdict: "transient", code: "ECONNREFUSED" });
  });
});
