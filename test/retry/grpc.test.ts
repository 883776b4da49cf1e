import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type ChannelCredentials,
  type ServiceError,
} from "@grpc/grpc-js";
import { createServer as createHttp } from "node:http";
import { createServer as createTcp, type AddressInfo } from "node:net";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import {
  BootstrapRetrier,
  exponentialBackoff,
  grpcStatuses,
  type AttemptFailure,
} from "../../src/retry/index.js";
import { failureOf } from "./attempt.js";
import { hasOpenssl, makeCertificates } from "./certificates.js";

const plain = credentials.createInsecure();
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Answer = Partial<ServiceError> | null;
const bytes = (value: Buffer): Buffer => value;
const path = "/openshell.Policy/Fetch";

function makeServer(answer: () => Answer): Server {
  const server = new Server();
  const method = {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  };
  server.addService(
    { fetch: method },
    {
      fetch: (_call: unknown, callback: (error: Answer, value?: Buffer) => void) => {
        const error = answer();
        if (error === null) callback(null, Buffer.from("policy"));
        else callback(error);
      },
    },
  );
  closing.push(() => server.forceShutdown());
  return server;
}

function bind(server: Server, port = 0, secure = ServerCredentials.createInsecure()): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, secure, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
}

const call =
  (address: string, channel: ChannelCredentials = plain, options: Record<string, string | number> = {}) =>
  (signal: AbortSignal): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const client = new Client(address, channel, { "grpc.enable_retries": 0, ...options });
      closing.push(() => client.close());
      const sent = client.makeUnaryRequest(path, bytes, bytes, Buffer.from(""), (error, value) => {
        if (error !== null) reject(error);
        else resolve(value ?? Buffer.from(""));
      });
      signal.addEventListener("abort", () => sent.cancel());
    });

async function freePort(): Promise<number> {
  const server = createTcp().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

describe("a real gRPC server", () => {
  it("that is down is transient", async () => {
    const failure = await failureOf(call(`127.0.0.1:${await freePort()}`));
    expect(failure).toMatchObject({ verdict: "transient", code: "UNAVAILABLE" });
  });

  it("that comes up later is reached", async () => {
    const port = await freePort();
    const retrier = new BootstrapRetrier({ backoff: exponentialBackoff({ initialMs: 50, capMs: 200 }) });
    retrier.once("failure", () => {
      void bind(
        makeServer(() => null),
        port,
      ).then(() => retrier.retryNow());
    });
    const policy = await retrier.run(({ signal }) => call(`127.0.0.1:${port}`)(signal));
    expect(policy.toString()).toBe("policy");
    expect(retrier.status().counts).toMatchObject({ transient: retrier.status().attempt - 1, permanent: 0 });
  });

  const names = Object.entries(grpcStatuses).filter(([name]) => name !== "OK");
  it.each(names)("that answers %s is classified by its table", async (name, entry) => {
    const code = status[name as keyof typeof status];
    const port = await bind(makeServer(() => ({ code, details: "as told" })));
    expect(await failureOf(call(`127.0.0.1:${port}`))).toMatchObject({ verdict: entry.verdict, code: name });
  });

  it.each([
    ["5000", "transient", 5000],
    ["-1", "permanent", null],
    ["soon", "permanent", null],
  ] as const)("that pushes back by %j is understood", async (pushback, verdict, hintMs) => {
    const metadata = new Metadata();
    metadata.set("grpc-retry-pushback-ms", pushback);
    const port = await bind(
      makeServer(() => ({ code: status.RESOURCE_EXHAUSTED, details: "busy", metadata })),
    );
    expect(await failureOf(call(`127.0.0.1:${port}`))).toMatchObject({
      verdict,
      code: "RESOURCE_EXHAUSTED",
      hintMs,
    });
  });

  it("that is no gRPC server is not retried for ever", async () => {
    const http = createHttp((_request, response) => response.end("<html>")).listen(0, "127.0.0.1");
    await once(http, "listening");
    closing.push(() => http.close());
    const failure: AttemptFailure = await failureOf(
      call(`127.0.0.1:${(http.address() as AddressInfo).port}`),
    );
    expect(["transient", "suspect"]).toContain(failure.verdict);
  });

  it.each(["dns:///a:b:c", "http://localhost:1", "ipv4:nonsense", "[::1", "localhost:99999999"])(
    "whose address is %s is permanent",
    async (address) => {
      expect(await failureOf(call(address))).toMatchObject({ verdict: "permanent", kind: "configuration" });
    },
  );

  it("whose name does not resolve is transient", async () => {
    const failure = await failureOf(call("gateway.invalid:443"));
    expect(failure).toMatchObject({ verdict: "transient", code: "UNAVAILABLE" });
  });

  it("that is called without a token file is suspect", async () => {
    const token = credentials.createFromMetadataGenerator((_options, callback) =>
      callback(
        Object.assign(new Error("ENOENT: no such file or directory, open '/run/token'"), { code: "ENOENT" }),
      ),
    );
    if (!hasOpenssl()) return;
    const { good, ca } = makeCertificates();
    const secure = ServerCredentials.createSsl(null, [{ cert_chain: good.cert, private_key: good.key }]);
    const port = await bind(
      makeServer(() => null),
      0,
      secure,
    );
    const channel = credentials.combineChannelCredentials(credentials.createSsl(ca), token);
    const failure = await failureOf(call(`localhost:${port}`, channel));
    expect(failure.verdict).toBe("suspect");
  });
});

describe.skipIf(!hasOpenssl())("a real gRPC server over TLS", () => {
  const made = hasOpenssl() ? makeCertificates() : undefined;
  const { ca, otherCa, good, expired, wrongHost } = made!;
  const server = (pair: { cert: Buffer; key: Buffer }, roots: Buffer | null = null): Promise<number> =>
    bind(
      makeServer(() => null),
      0,
      ServerCredentials.createSsl(roots, [{ cert_chain: pair.cert, private_key: pair.key }], roots !== null),
    );

  it.each([
    ["of an unknown authority", good, otherCa],
    ["that is expired", expired, ca],
    ["for another host", wrongHost, ca],
  ])("with a certificate %s is permanent", async (_what, pair, authority) => {
    const failure = await failureOf(
      call(`localhost:${await server(pair)}`, credentials.createSsl(authority)),
    );
    expect(failure).toMatchObject({ verdict: "permanent", kind: "tls" });
  });

  it("that wants a client certificate is permanent", async () => {
    const failure = await failureOf(call(`localhost:${await server(good, ca)}`, credentials.createSsl(ca)));
    expect(failure).toMatchObject({ verdict: "permanent", kind: "tls" });
  });

  it("on a plain-text port is permanent", async () => {
    const port = await bind(makeServer(() => null));
    const failure = await failureOf(call(`localhost:${port}`, credentials.createSsl(ca)));
    expect(failure).toMatchObject({ verdict: "permanent", kind: "tls" });
  });

  it("answers a client that trusts it", async () => {
    const value = await call(
      `localhost:${await server(good)}`,
      credentials.createSsl(ca),
    )(new AbortController().signal);
    expect(value.toString()).toBe("policy");
  });
});
