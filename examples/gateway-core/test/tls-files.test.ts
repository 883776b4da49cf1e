import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { hasOpenssl, makeCertificates, type Certificates } from "../../../test/retry/certificates.js";
import { readTlsFiles } from "../src/http/tls-files.js";
import { tempDir } from "./temp-dir.js";

describe.skipIf(!hasOpenssl())("the files of a certificate", () => {
  let made: Certificates;
  beforeAll(() => {
    made = makeCertificates();
  });

  /** What becomes of a certificate and a key with this content, and the content's folder left out. */
  async function read(cert: string | Buffer, key: string | Buffer): Promise<string> {
    const dir = await tempDir();
    const [certFile, keyFile] = [join(dir, "cert.pem"), join(dir, "key.pem")];
    await writeFile(certFile, cert);
    await writeFile(keyFile, key);
    try {
      const files = readTlsFiles({
        cert: { name: "--tls-cert", file: certFile },
        key: { name: "--tls-key", file: keyFile },
      });
      expect(files).toEqual({ cert: cert.toString(), key: key.toString() });
      return "taken";
    } catch (error) {
      return (error as Error).message.replaceAll(`${dir}/`, "");
    }
  }

  const encrypted = (): string =>
    generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" },
    }).privateKey;

  it("are taken where they fit", async () => {
    expect(await read(made.good.cert, made.good.key)).toBe("taken");
    expect(await read(`${made.good.cert.toString()}${made.ca.toString()}`, made.good.key)).toBe("taken");
  });

  const noChain = /^--tls-cert must be a certificate chain in PEM \(.+\), got "cert\.pem"$/;
  const noKey = /^--tls-key must be a private key in PEM, without a passphrase.*, got "key\.pem"$/;
  it.each<[string, (from: Certificates) => [string | Buffer, string | Buffer], RegExp]>([
    ["a certificate that is none", ({ good }) => ["no certificate\n", good.key], noChain],
    ["a certificate file with nothing in it", ({ good }) => ["", good.key], noChain],
    ["a key in the place of the certificate", ({ good }) => [good.key, good.key], noChain],
    ["a key that is none", ({ good }) => [good.cert, "no key\n"], noKey],
    ["a key file with nothing in it", ({ good }) => [good.cert, ""], noKey],
    ["a certificate in the place of the key", ({ good }) => [good.cert, good.cert], noKey],
    ["a key with a passphrase", ({ good }) => [good.cert, encrypted()], noKey],
    [
      "the key of another certificate",
      ({ good, client }) => [good.cert, client.key],
      /^--tls-key must be the private key of the certificate in --tls-cert \(key values mismatch\), got "key\.pem"$/,
    ],
  ])("are told by the name that they were given by: %s", async (_, contents, message) => {
    const said = await read(...contents(made));
    expect(said).toMatch(message);
    expect(said).not.toMatch(/BEGIN|no certificate|no key/);
  });
});
