import { once } from "node:events";
import { request } from "node:https";
import { createServer as createPlain, type AddressInfo, type Server } from "node:net";
import { connect, createServer, type TlsOptions } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AttemptFailure } from "../../src/retry/index.js";
import { failureOf } from "./attempt.js";
import { hasOpenssl, makeCertificates, type Certificates } from "./certificates.js";

const available = hasOpenssl();
if (!available) console.warn("TLS tests are skipped: this system has no openssl");

const servers: Server[] = [];

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on("connection", (socket) => socket.on("error", () => undefined));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

const tlsServer = (options: TlsOptions): Promise<number> => {
  const server = createServer(options, (socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(answer));
  });
  server.on("tlsClientError", () => undefined);
  return listen(server);
};

interface Client {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly maxVersion?: "TLSv1.2" | "TLSv1.3";
}

/** The same request through both clients that report TLS failures in their own way. */
const clients = {
  "node:https": (port: number, options: Client): Promise<AttemptFailure> =>
    failureOf(
      (signal) =>
        new Promise((resolve, reject) => {
          const sent = request(
            { host: "localhost", port, signal, family: 4, agent: false, ...options },
            resolve,
          );
          sent.on("error", reject).end();
        }),
    ),
  "node:tls": (port: number, options: Client): Promise<AttemptFailure> =>
    failureOf(
      (signal) =>
        new Promise((resolve, reject) => {
          const socket = connect({ host: "127.0.0.1", servername: "localhost", port, ...options });
          signal.addEventListener("abort", () => socket.destroy());
          socket.on("secureConnect", () => socket.write("hello"));
          socket.on("data", resolve).on("error", reject);
          socket.on("close", () => reject(Object.assign(new Error("closed"), { code: "ECONNRESET" })));
        }),
    ),
};

describe.skipIf(!available).each(Object.entries(clients))("TLS failures through %s", (_name, send) => {
  let made: Certificates;
  beforeAll(() => {
    made = makeCertificates();
  });
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it.each([
    ["an unknown authority", "good", "otherCa", /^(?:UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER)/],
    ["a self-signed certificate", "selfSigned", "ca", /SELF_SIGNED/],
    ["an expired certificate", "expired", "ca", /^CERT_HAS_EXPIRED$/],
    ["a certificate that is not valid yet", "notYetValid", "ca", /^CERT_NOT_YET_VALID$/],
    ["a wrong host name", "wrongHost", "ca", /^ERR_TLS_CERT_ALTNAME_INVALID$/],
  ] as const)("%s is permanent", async (_what, server, authority, code) => {
    const port = await tlsServer(made[server]);
    const failure = await send(port, { ca: made[authority] });
    expect(failure.verdict).toBe("permanent");
    expect(failure.code).toMatch(code);
    expect(failure.kind).toBe("tls");
  });

  it("a CA file that holds no certificate is permanent", async () => {
    const port = await tlsServer(made.good);
    const failure = await send(port, { ca: Buffer.from("not a certificate") });
    expect(failure.verdict).toBe("permanent");
  });

  it.each(["TLSv1.2", "TLSv1.3"] as const)(
    "a missing client certificate is permanent under %s",
    async (maxVersion) => {
      const port = await tlsServer({
        ...made.good,
        ca: made.ca,
        requestCert: true,
        rejectUnauthorized: true,
      });
      const failure = await send(port, { ca: made.ca, maxVersion });
      expect(failure).toMatchObject({ verdict: "permanent", kind: "tls" });
    },
  );

  it("a client certificate that Node's server drops after the handshake looks like a restart, and says so", async () => {
    const port = await tlsServer({
      ...made.good,
      ca: made.otherCa,
      requestCert: true,
      rejectUnauthorized: true,
    });
    const failure = await send(port, { ca: made.ca, ...made.client });
    expect(failure).toMatchObject({ verdict: "transient", code: "ECONNRESET" });
    expect(failure.explanation).toContain("client certificate");
  });

  it("a client certificate that is dropped after the handshake is suspect where the client says that there was one", async () => {
    const port = await tlsServer({
      ...made.good,
      ca: made.otherCa,
      requestCert: true,
      rejectUnauthorized: true,
    });
    const attempt = (signal: AbortSignal): Promise<unknown> =>
      new Promise((resolve, reject) => {
        let secureConnectedAt: number | undefined;
        const options = {
          host: "localhost",
          port,
          signal,
          family: 4,
          agent: false,
          ca: made.ca,
          ...made.client,
        };
        const sent = request(options, resolve);
        sent.on("socket", (socket) => socket.on("secureConnect", () => (secureConnectedAt = Date.now())));
        sent.on("error", (error) => reject(Object.assign(error, { secureConnectedAt }))).end();
      });
    const failure = await failureOf(attempt);
    expect(failure).toMatchObject({ verdict: "suspect", code: "ECONNRESET", kind: "tls" });
    expect(failure.explanation).toContain("clientCertificateRejected?");
  });

  it("a key that does not belong to the certificate is permanent", async () => {
    const port = await tlsServer(made.good);
    const failure = await send(port, { ca: made.ca, cert: made.client.cert, key: made.good.key });
    expect(failure).toMatchObject({ verdict: "permanent", kind: "configuration" });
  });

  it("a plain-text port is permanent", async () => {
    const port = await listen(createPlain((socket) => socket.once("data", () => socket.end(answer))));
    const failure = await send(port, { ca: made.ca });
    expect(failure).toMatchObject({ verdict: "permanent", code: "ERR_SSL_WRONG_VERSION_NUMBER" });
  });

  it("a version that the server does not speak is permanent", async () => {
    const port = await tlsServer({ ...made.good, minVersion: "TLSv1.3" });
    const failure = await send(port, { ca: made.ca, maxVersion: "TLSv1.2" });
    expect(failure).toMatchObject({ verdict: "permanent", kind: "tls" });
  });

  it("a server that closes before the handshake is transient", async () => {
    const port = await listen(createPlain((socket) => socket.destroy()));
    const failure = await send(port, { ca: made.ca });
    expect(failure).toMatchObject({ verdict: "transient", code: "ECONNRESET" });
  });
});

afterAll(() => {
  for (const server of servers) server.close();
});
