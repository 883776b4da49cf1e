import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Pair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Certificates for a loopback server, made by the system's openssl for one test file. */
export interface Certificates {
  readonly ca: Buffer;
  /** An authority that signed nothing here. */
  readonly otherCa: Buffer;
  readonly good: Pair;
  readonly expired: Pair;
  readonly notYetValid: Pair;
  readonly wrongHost: Pair;
  readonly client: Pair;
  readonly selfSigned: Pair;
}

export function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** UTC in the form that `openssl ca` takes. */
function stamp(daysFromNow: number): string {
  const text = new Date(Date.now() + daysFromNow * 86_400_000).toISOString();
  return `${text.slice(0, 19).replaceAll(/[-T:]/g, "")}Z`;
}

export function makeCertificates(): Certificates {
  const dir = mkdtempSync(join(tmpdir(), "slipway-certificates-"));
  const path = (name: string): string => join(dir, name);
  const openssl = (...args: string[]): void => {
    execFileSync("openssl", args, { cwd: dir, stdio: ["ignore", "ignore", "pipe"] });
  };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const authority = (name: string): Buffer => {
    openssl(
      "req",
      "-x509",
      ...key,
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.crt`,
      "-days",
      "2",
      "-subj",
      `/CN=${name}`,
    );
    return readFileSync(path(`${name}.crt`));
  };
  const signed = (name: string, alternative: string, from: number, to: number): Pair => {
    openssl("req", ...key, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${name}`);
    writeFileSync(path(`${name}.ext`), `subjectAltName=${alternative}\n`);
    const dates = ["-startdate", stamp(from), "-enddate", stamp(to)];
    const files = ["-in", `${name}.csr`, "-out", `${name}.crt`, "-extfile", `${name}.ext`];
    openssl("ca", "-batch", "-notext", "-config", "ca.conf", ...dates, ...files);
    return { cert: readFileSync(path(`${name}.crt`)), key: readFileSync(path(`${name}.key`)) };
  };
  try {
    writeFileSync(path("index.txt"), "");
    writeFileSync(path("serial"), "1000\n");
    writeFileSync(
      path("ca.conf"),
      [
        "[ca]\ndefault_ca=own",
        "[own]\ndir=.\ndatabase=index.txt\nserial=serial\nnew_certs_dir=.\ncertificate=ca.crt\nprivate_key=ca.key",
        "default_md=sha256\npolicy=any\nunique_subject=no",
        "[any]\ncommonName=supplied\n",
      ].join("\n"),
    );
    const ca = authority("ca");
    const otherCa = authority("other");
    const here = "DNS:localhost,IP:127.0.0.1";
    const self = authority("self");
    return {
      ca,
      otherCa,
      good: signed("good", here, -1, 1),
      expired: signed("expired", here, -3, -1),
      notYetValid: signed("early", here, 1, 3),
      wrongHost: signed("elsewhere", "DNS:elsewhere.invalid", -1, 1),
      client: signed("client", here, -1, 1),
      selfSigned: { cert: self, key: readFileSync(path("self.key")) },
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
