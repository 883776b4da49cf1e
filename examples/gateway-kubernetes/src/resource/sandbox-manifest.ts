import type { JsonObject, LaunchRequest } from "@slipway-examples/gateway-core";
import type { Plain } from "../api/plain.js";
import type { KubernetesOptions } from "../driver/options.js";
import { podTemplate, WORKSPACE_VOLUME } from "./pod-template.js";
import {
  BOOTSTRAP_KEY,
  GATEWAY_LABEL,
  INSTANCE_KEY,
  SANDBOX_LABEL,
  SECRET_KEY,
  START_KEY,
  startText,
} from "./names.js";
import { intentOf, SANDBOX_GROUP, type SandboxVersion } from "./sandbox-api.js";
import type { SandboxSettings } from "./sandbox-settings.js";
import { secretName } from "./token-secret.js";

/** What a start writes on the resource: who it is, what to run, and that it is under way. */
function startFields(request: LaunchRequest, options: KubernetesOptions, settings: SandboxSettings) {
  const { instance, sandbox } = request;
  return {
    annotations: {
      [INSTANCE_KEY]: instance.id,
      [START_KEY]: startText(instance),
      [SECRET_KEY]: secretName(sandbox, instance),
      [BOOTSTRAP_KEY]: instance.id,
    },
    podTemplate: podTemplate(request, options, settings),
  };
}

/** A new resource, suspended: it runs once what its pod needs is there. */
export function newSandbox(
  version: SandboxVersion,
  request: LaunchRequest,
  options: KubernetesOptions,
  settings: SandboxSettings,
): Plain {
  const { annotations, podTemplate: template } = startFields(request, options, settings);
  const { sandbox } = request;
  return {
    apiVersion: `${SANDBOX_GROUP}/${version}`,
    kind: "Sandbox",
    metadata: {
      name: sandbox.name,
      namespace: settings.namespace,
      labels: { [GATEWAY_LABEL]: settings.gateway, [SANDBOX_LABEL]: sandbox.id },
      annotations,
    },
    spec: {
      ...intentOf(version, false),
      podTemplate: template,
      volumeClaimTemplates: [workspaceClaim(options)],
    },
  };
}

/** Readies a resource for another start: suspended, so that the former run's pod goes before the next one comes. */
export function startPatch(
  version: SandboxVersion,
  request: LaunchRequest,
  options: KubernetesOptions,
  settings: SandboxSettings,
): Plain {
  const { annotations, podTemplate: template } = startFields(request, options, settings);
  // A merge patch keeps what it does not name, and replaces lists: containers and volumes are this start's.
  return { metadata: { annotations }, spec: { ...intentOf(version, false), podTemplate: template } };
}

/** The claim is the resource's own for as long as it lives: no start changes it and no recovery deletes it. */
function workspaceClaim({ storage, storageClassName }: KubernetesOptions): JsonObject {
  return {
    metadata: { name: WORKSPACE_VOLUME },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage } },
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  };
}
