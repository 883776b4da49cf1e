import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { hasOpenssl, makeCertificates } from "../../../test/retry/certificates.js";
import { GatewayClient, UnreachableError } from "../src/client/gateway-client.js";
import { whyUnreachable } from "../src/client/why-unreachable.js";

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function portOf(server: Server): Promise<number> {
  open.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** What a client says that has no answer there, without the words that are always there. */
async function why(url: string): Promise<string> {
  const said: unknown = await new GatewayClient({ url }).list().catch((error: unknown) => error);
  expect(said).toBeInstanceOf(UnreachableError);
  const { message } = said as UnreachableError;
  const always = `No gateway answers at ${url}`;
  expect(message.startsWith(always)).toBe(true);
  return message.slice(always.length);
}

describe("where no gateway answers, it is said why", () => {
  it("nobody listens", async () => {
    const port = await portOf(createServer());
    const [server] = open.splice(0);
    server?.close();
    expect(await why(`http://127.0.0.1:${port}`)).toBe(` (connect ECONNREFUSED 127.0.0.1:${port})`);
  });

  it("who listens does not speak TLS", async () => {
    const port = await portOf(createServer());
    expect(await why(`https://127.0.0.1:${port}`)).toMatch(/^ \(ERR_SSL_\w+: [a-z ]+\)$/);
  });

  it("no request can be made of the address", async () => {
    expect(await why("http://127.0.0.1:1")).toBe(" (bad port)");
    expect(await why("ftp://127.0.0.1")).toBe(" (unknown scheme)");
  });

  describe.skipIf(!hasOpenssl())("with certificates", () => {
    const { good, selfSigned } = hasOpenssl() ? makeCertificates() : ({} as never);
    const hint = ": where you trust it, name the file of its authority in NODE_EXTRA_CA_CERTS";

    it("who listens speaks TLS alone", async () => {
      const port = await portOf(createTlsServer(good));
      expect(await why(`http://127.0.0.1:${port}`)).toMatch(/^ \((UND_ERR_SOCKET: |.*ECONNRESET).*\)$/);
    });

    it.each([
      ["signed by nobody that is known", () => good, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
      ["signed by itself", () => selfSigned, "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ])("the certificate is %s, with what makes it trusted", async (_, pair, code) => {
      const said = await why(`https://127.0.0.1:${await portOf(createTlsServer(pair()))}`);
      expect(said.startsWith(` (${code}: `)).toBe(true);
      expect(said.endsWith(`)${hint}`)).toBe(true);
    });
  });

  it("a certificate that trust does not help, without a word of trust", () => {
    const code = "ERR_TLS_CERT_ALTNAME_INVALID";
    const cause = Object.assign(new Error("Hostname/IP does not match"), { code });
    expect(whyUnreachable(new TypeError("fetch failed", { cause }))).toBe(
      ` (${code}: Hostname/IP does not match)`,
    );
  });

  it("a failure without a word for it", () => {
    expect(whyUnreachable(null)).toBe("");
    expect(whyUnreachable(new TypeError("no such address"))).toBe(" (no such address)");
    expect(whyUnreachable(new AggregateError([], ""))).toBe("");
  });
});
