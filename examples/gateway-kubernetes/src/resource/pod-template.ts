import type { JsonObject, LaunchRequest } from "@slipway-examples/gateway-core";
import type { KubernetesOptions } from "../driver/options.js";
import { GATEWAY_LABEL, INSTANCE_KEY, SANDBOX_LABEL, START_KEY, startText } from "./names.js";
import type { SandboxSettings } from "./sandbox-settings.js";
import { secretName, TOKEN_FIELD } from "./token-secret.js";

export const WORKSPACE_VOLUME = "workspace";
export const MAIN_CONTAINER = "sandbox";

const WORKSPACE_DIR = "/workspace";
const PROGRAM_DIR = "/opt/slipway";
const CA_DIR = "/etc/slipway";

/**
 * The pod of one start. `restartPolicy: Never` is a part of the contract: a main process that ended has ended, and
 * what waits for the gateway waits inside the supervisor.
 */
export function podTemplate(
  request: LaunchRequest,
  options: KubernetesOptions,
  settings: SandboxSettings,
): JsonObject {
  const { sandbox, instance } = request;
  return {
    metadata: {
      labels: { [GATEWAY_LABEL]: settings.gateway, [SANDBOX_LABEL]: sandbox.id },
      annotations: { [INSTANCE_KEY]: instance.id, [START_KEY]: startText(instance) },
    },
    spec: {
      restartPolicy: "Never",
      terminationGracePeriodSeconds: settings.graceSeconds,
      // The workload is not to speak with the cluster.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { seccompProfile: { type: "RuntimeDefault" }, ...fsGroup(options) },
      ...(options.runtimeClassName === undefined ? {} : { runtimeClassName: options.runtimeClassName }),
      ...(options.nodeSelector === undefined ? {} : { nodeSelector: options.nodeSelector }),
      containers: [container(request, options, settings)],
      volumes: volumes(settings),
    },
  };
}

function container(
  { image, sandbox, instance, command, access }: LaunchRequest,
  { imagePullPolicy, resources, runAsUser, node }: KubernetesOptions,
  settings: SandboxSettings,
): JsonObject {
  const trust: JsonObject[] =
    settings.caConfigMap === undefined ? [] : [{ name: "NODE_EXTRA_CA_CERTS", value: `${CA_DIR}/ca.crt` }];
  const caMount: JsonObject[] =
    settings.caConfigMap === undefined ? [] : [{ name: "gateway-ca", mountPath: CA_DIR, readOnly: true }];
  return {
    name: MAIN_CONTAINER,
    image: image.name,
    ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
    command: [node, `${PROGRAM_DIR}/supervisor.mjs`],
    workingDir: WORKSPACE_DIR,
    // Why a supervisor ended that could tell nobody, as when its gateway's certificate is not to be trusted.
    terminationMessagePolicy: "FallbackToLogsOnError",
    env: [
      { name: "SLIPWAY_GATEWAY_URL", value: access.url },
      { name: "SLIPWAY_SANDBOX", value: sandbox.id },
      { name: "SLIPWAY_RUN", value: String(instance.run) },
      { name: "SLIPWAY_OWNS_MEMORY", value: "1" },
      // A kubelet signals the first process of a container, and nobody else.
      { name: "SLIPWAY_ASKED_ALONE", value: "1" },
      ...(access.budgetMs === undefined
        ? []
        : [{ name: "SLIPWAY_BUDGET_MS", value: String(access.budgetMs) }]),
      { name: "SLIPWAY_COMMAND", value: JSON.stringify(command).replaceAll("$(", "$$(") },
      {
        name: "SLIPWAY_TOKEN",
        valueFrom: { secretKeyRef: { name: secretName(sandbox, instance), key: TOKEN_FIELD } },
      },
      ...trust,
    ],
    resources: { limits: resources, requests: resources },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      ...(runAsUser === undefined ? {} : { runAsUser, runAsNonRoot: runAsUser !== 0 }),
    },
    volumeMounts: [
      { name: WORKSPACE_VOLUME, mountPath: WORKSPACE_DIR },
      { name: "supervisor", mountPath: PROGRAM_DIR, readOnly: true },
      ...caMount,
    ],
  };
}

function volumes({ supervisorConfigMap, caConfigMap }: SandboxSettings): JsonObject[] {
  const program = { name: "supervisor", configMap: { name: supervisorConfigMap } };
  return caConfigMap === undefined
    ? [program]
    : [program, { name: "gateway-ca", configMap: { name: caConfigMap } }];
}

/** A fresh volume belongs to root: a workload that does not run as root gets at it by group. */
function fsGroup({ runAsUser }: KubernetesOptions): JsonObject {
  return runAsUser === undefined ? {} : { fsGroup: runAsUser };
}
