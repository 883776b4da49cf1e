import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { InvalidInputError } from "../input-error.js";
import type { TlsFiles } from "./listen.js";

/** A file, and what whoever named it calls it: an option or a variable. */
export interface NamedFile {
  readonly name: string;
  readonly file: string;
}

/**
 * The certificate chain and its key as the files are now. Checked here, where it is known who named which: a server
 * tells mistakes by the words of its library alone, and takes an empty file for no certificate at all.
 *
 * @throws InvalidInputError for a file that cannot be read or is not what it has to be, with what it is called
 */
export function readTlsFiles(given: { readonly cert: NamedFile; readonly key: NamedFile }): TlsFiles {
  const cert = textOf(given.cert);
  const key = textOf(given.key);
  check(given.cert, "a certificate chain in PEM", () => {
    new X509Certificate(cert);
    createSecureContext({ cert });
  });
  check(given.key, "a private key in PEM, without a passphrase", () => createPrivateKey(key));
  check(given.key, `the private key of the certificate in ${given.cert.name}`, () =>
    createSecureContext({ cert, key }),
  );
  return { cert, key };
}

function textOf({ name, file }: NamedFile): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new InvalidInputError(name, "a file that can be read", file);
  }
}

/** Names the file and never what is in it, which may be a key in the place of a certificate. */
function check({ name, file }: NamedFile, expected: string, use: () => unknown): void {
  try {
    use();
  } catch (error) {
    const { reason } = error as { reason?: unknown };
    const why = typeof reason === "string" ? ` (${reason})` : "";
    throw new InvalidInputError(name, `${expected}${why}`, file);
  }
}
