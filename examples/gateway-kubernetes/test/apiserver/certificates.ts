import { generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { isIP } from "node:net";
import {
  bits,
  explicit,
  implicit,
  integer,
  octets,
  oid,
  sequence,
  set,
  truth,
  utcTime,
  utf8,
} from "./der.js";

/** A certificate and its key, PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

interface Request {
  readonly commonName: string;
  readonly organization?: string;
  /** DNS names and IPv4 addresses. */
  readonly hosts?: readonly string[];
  readonly authority?: boolean;
  /** Days from now; may be negative for an expired one. */
  readonly fromDays?: number;
  readonly toDays?: number;
}

const DAY = 86_400_000;
const ECDSA_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));

function name(commonName: string, organization?: string): Buffer {
  const attribute = (type: string, value: string): Buffer => set(sequence(oid(type), utf8(value)));
  return sequence(
    ...(organization === undefined ? [] : [attribute("2.5.4.10", organization)]),
    attribute("2.5.4.3", commonName),
  );
}

function alternatives(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    isIP(host) === 4 ? implicit(7, Buffer.from(host.split(".").map(Number))) : implicit(2, Buffer.from(host)),
  );
  return sequence(oid("2.5.29.17"), octets(sequence(...names)));
}

function pem(label: string, der: Buffer): string {
  return `-----BEGIN ${label}-----\n${(der.toString("base64").match(/.{1,64}/g) ?? []).join("\n")}\n-----END ${label}-----\n`;
}

/** A certificate authority that lives as long as the test: what signs the server and client certificates. */
export class Authority {
  readonly #key: KeyObject;
  readonly #issuer: Buffer;
  /** Its own certificate, PEM. */
  readonly cert: string;

  constructor(commonName = "slipway test authority") {
    this.#issuer = name(commonName);
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#key = privateKey;
    this.cert = this.#sign({ commonName, authority: true }, publicKey);
  }

  issue(request: Request): KeyPair {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    return { cert: this.#sign(request, publicKey), key };
  }

  #sign(request: Request, publicKey: KeyObject): string {
    const { commonName, organization, hosts = [], authority = false, fromDays = -1, toDays = 30 } = request;
    const constraints = sequence(
      oid("2.5.29.19"),
      truth(),
      octets(sequence(...(authority ? [truth()] : []))),
    );
    const extensions = [constraints, ...(hosts.length > 0 ? [alternatives(hosts)] : [])];
    const contents = sequence(
      explicit(0, integer(Buffer.from([2]))),
      integer(randomBytes(8)),
      ECDSA_SHA256,
      this.#issuer,
      sequence(utcTime(Date.now() + fromDays * DAY), utcTime(Date.now() + toDays * DAY)),
      name(commonName, organization),
      publicKey.export({ type: "spki", format: "der" }),
      explicit(3, sequence(...extensions)),
    );
    const signature = sign("sha256", contents, this.#key);
    return pem("CERTIFICATE", sequence(contents, ECDSA_SHA256, bits(signature)));
  }
}
