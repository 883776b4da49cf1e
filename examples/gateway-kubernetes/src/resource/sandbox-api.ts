import { isStatus } from "../api/api-error.js";
import type { KubeClient } from "../api/kube-client.js";
import { memberOf, recordsOf, textAt, type Plain } from "../api/plain.js";

export const SANDBOX_GROUP = "agents.x-k8s.io";

/** Versions of the agent-sandbox resource that this driver writes, the preferred one first. */
export const SANDBOX_VERSIONS = ["v1beta1", "v1alpha1"] as const;

export type SandboxVersion = (typeof SANDBOX_VERSIONS)[number];

/** What in the specification says whether the workload is to run: a mode in v1beta1, a count in v1alpha1. */
export function intentOf(version: SandboxVersion, run: boolean): Plain {
  return version === "v1beta1" ? { operatingMode: run ? "Running" : "Suspended" } : { replicas: run ? 1 : 0 };
}

/** Whether the workload is to run; absence means that it is, in both versions. */
export function wantsRun(version: SandboxVersion, sandbox: Plain): boolean {
  if (version === "v1alpha1") return memberOf(sandbox, "spec", "replicas") !== 0;
  return (textAt(sandbox, "spec", "operatingMode") ?? "Running") === "Running";
}

/**
 * The version to use: the newest that both the server and this driver know.
 *
 * @throws Error when there is none.
 */
export async function discoverVersion(client: KubeClient, signal: AbortSignal): Promise<SandboxVersion> {
  for (const version of SANDBOX_VERSIONS) {
    const found = await client
      .get(`/apis/${SANDBOX_GROUP}/${version}`, { signal })
      .catch((error: unknown) => {
        if (isStatus(error, 404)) return {};
        throw error;
      });
    if (recordsOf(memberOf(found, "resources")).some(({ name }) => name === "sandboxes")) return version;
  }
  const wanted = SANDBOX_VERSIONS.join(" nor ");
  throw new Error(
    `The cluster serves sandboxes of ${SANDBOX_GROUP} neither as ${wanted}: install agent-sandbox`,
  );
}
