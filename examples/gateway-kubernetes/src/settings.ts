import { InvalidInputError, readTlsFiles, type TlsFiles } from "@slipway-examples/gateway-core";
import { LABEL_VALUE, OBJECT_NAME } from "./resource/names.js";
import { SANDBOX_VERSIONS, type SandboxVersion } from "./resource/sandbox-api.js";
import type { SandboxSettings } from "./resource/sandbox-settings.js";

/** What the environment says about a gateway on Kubernetes. */
export interface GatewaySettings {
  readonly sandboxes: SandboxSettings;
  readonly store: "sqlite" | "cluster";
  /** Absent: found out from the cluster. */
  readonly version: SandboxVersion | undefined;
  /** Files of the certificate and key that the gateway serves with. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws InvalidInputError naming the variable. */
export function readSettings(env: Environment): GatewaySettings {
  return {
    sandboxes: {
      namespace: named(env, "SLIPWAY_NAMESPACE", OBJECT_NAME, "default"),
      gateway: named(env, "SLIPWAY_GATEWAY_NAME", LABEL_VALUE, "slipway"),
      supervisorConfigMap: named(env, "SLIPWAY_SUPERVISOR_CONFIGMAP", OBJECT_NAME, "slipway-supervisor"),
      caConfigMap:
        env["SLIPWAY_CA_CONFIGMAP"] === undefined
          ? undefined
          : named(env, "SLIPWAY_CA_CONFIGMAP", OBJECT_NAME, ""),
      graceSeconds: seconds(env, "SLIPWAY_GRACE_SECONDS", 10),
    },
    store: one(env, "SLIPWAY_STORE", ["sqlite", "cluster"] as const) ?? "sqlite",
    version: one(env, "SLIPWAY_SANDBOX_VERSION", SANDBOX_VERSIONS),
    tls: tlsOf(env),
  };
}

/**
 * The files as they are now: a certificate that was renewed is read by the next start.
 *
 * @throws InvalidInputError naming the variable.
 */
export function readTls({ certFile, keyFile }: NonNullable<GatewaySettings["tls"]>): TlsFiles {
  return readTlsFiles({
    cert: { name: "SLIPWAY_TLS_CERT", file: certFile },
    key: { name: "SLIPWAY_TLS_KEY", file: keyFile },
  });
}

function tlsOf(env: Environment): GatewaySettings["tls"] {
  const [certFile, keyFile] = [env["SLIPWAY_TLS_CERT"], env["SLIPWAY_TLS_KEY"]];
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined)
    throw new InvalidInputError("SLIPWAY_TLS_CERT", "set beside SLIPWAY_TLS_KEY", certFile);
  if (keyFile === undefined)
    throw new InvalidInputError("SLIPWAY_TLS_KEY", "set beside SLIPWAY_TLS_CERT", keyFile);
  return { certFile, keyFile };
}

function named(env: Environment, variable: string, rule: RegExp, absent: string): string {
  const value = env[variable] ?? absent;
  if (!rule.test(value)) throw new InvalidInputError(variable, "a name that the cluster takes", value);
  return value;
}

function seconds(env: Environment, variable: string, absent: number): number {
  const text = env[variable] ?? String(absent);
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 3600)
    throw new InvalidInputError(variable, "whole seconds up to 3600", text);
  return value;
}

function one<const Words extends readonly string[]>(
  env: Environment,
  variable: string,
  words: Words,
): Words[number] | undefined {
  const value = env[variable];
  if (value === undefined || words.includes(value)) return value;
  throw new InvalidInputError(variable, `one of ${words.join(", ")}`, value);
}
