import type { InstanceRef, SandboxRef } from "@slipway-examples/gateway-core";
import { createHash } from "node:crypto";
import { isAlreadyExists, isStatus } from "../api/api-error.js";
import type { KubeClient } from "../api/kube-client.js";
import { nameOf, uidOf, type Plain } from "../api/plain.js";
import { GATEWAY_LABEL, INSTANCE_KEY, SANDBOX_LABEL } from "./names.js";
import type { SandboxSettings } from "./sandbox-settings.js";

export const TOKEN_FIELD = "token";

/** One Secret for each start: a pod of an earlier run never gets a later run's token. */
export function secretName(sandbox: SandboxRef, instance: InstanceRef): string {
  const digest = createHash("sha256").update(instance.id).digest("hex").slice(0, 10);
  return `${sandbox.name}-token-${digest}`;
}

/** Puts the token in place. The resource owns it, so that the cluster removes it with the resource at the latest. */
export async function writeSecret(
  client: KubeClient,
  settings: SandboxSettings,
  secret: {
    readonly owner: Plain;
    readonly sandbox: SandboxRef;
    readonly instance: InstanceRef;
    readonly token: string;
  },
  signal: AbortSignal,
): Promise<void> {
  const { owner, sandbox, instance, token } = secret;
  const name = secretName(sandbox, instance);
  const data = { [TOKEN_FIELD]: Buffer.from(token).toString("base64") };
  const body = {
    apiVersion: "v1",
    kind: "Secret",
    type: "Opaque",
    metadata: {
      name,
      namespace: settings.namespace,
      labels: { [GATEWAY_LABEL]: settings.gateway, [SANDBOX_LABEL]: sandbox.id },
      annotations: { [INSTANCE_KEY]: instance.id },
      ownerReferences: [
        { apiVersion: owner["apiVersion"], kind: owner["kind"], name: nameOf(owner), uid: uidOf(owner) },
      ],
    },
    data,
  };
  const path = secretsPath(settings);
  try {
    await client.create(path, body, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    // An earlier try of the same start; what it left is brought to this state without being read.
    const { ownerReferences } = body.metadata;
    await client.patch(`${path}/${name}`, { metadata: { ownerReferences }, data }, { signal });
  }
}

export async function deleteSecret(
  client: KubeClient,
  settings: SandboxSettings,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.delete(`${secretsPath(settings)}/${name}`, {}, { signal });
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
  }
}

function secretsPath({ namespace }: SandboxSettings): string {
  return `/api/v1/namespaces/${namespace}/secrets`;
}
