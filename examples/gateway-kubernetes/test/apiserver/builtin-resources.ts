import { isDeepStrictEqual } from "node:util";
import { at, copy, isObject, textOf, timestamp, type KubeObject } from "./object.js";
import { resource, specOf, statusOf, type Resource, type Subresource } from "./resource.js";
import type { Cause } from "./status.js";

const core = { group: "", version: "v1" };
const DEFAULT_GRACE_SECONDS = 30;
const PVC_PROTECTION = "kubernetes.io/pvc-protection";

/** Text at a path, "" if it is absent: how field selectors compare. */
function text(path: string): (object: KubeObject) => string {
  return (object) => textOf(at(object, path));
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function forbiddenField(field: string, message: string): Cause {
  return { reason: "FieldValueForbidden", field, message: `Forbidden: ${message}` };
}

/** The pod's spec without what may still be changed after its creation. */
function fixedSpec(object: KubeObject): unknown {
  const spec = copy(object.spec ?? {});
  for (const field of ["activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"]) {
    Reflect.deleteProperty(spec, field);
  }
  for (const list of ["containers", "initContainers"]) {
    const containers = spec[list];
    if (!Array.isArray(containers)) continue;
    for (const container of containers) if (isObject(container)) Reflect.deleteProperty(container, "image");
  }
  return spec;
}

function validatePod(next: KubeObject, previous: KubeObject | null): Cause[] {
  const containers = next.spec?.["containers"];
  if (!Array.isArray(containers) || containers.length === 0) {
    return [{ reason: "FieldValueRequired", field: "spec.containers", message: "Required value" }];
  }
  if (previous === null || isDeepStrictEqual(fixedSpec(next), fixedSpec(previous))) return [];
  return [
    forbiddenField(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
    ),
  ];
}

function preparePod(next: KubeObject, previous: KubeObject | null, subresource: Subresource): void {
  if (subresource === "status") return;
  const spec = specOf(next);
  if (previous === null) {
    spec["restartPolicy"] ??= "Always";
    spec["terminationGracePeriodSeconds"] ??= DEFAULT_GRACE_SECONDS;
    spec["serviceAccountName"] ??= "default";
    next.status = { phase: "Pending", qosClass: "BestEffort" };
  }
}

/** A pod that no kubelet has, or that has ended, goes at once; another one by its own or the asked grace period. */
function podGrace(pod: KubeObject, asked: number | undefined): number {
  const phase = at(pod, "status.phase");
  if (!pod.spec?.["nodeName"] || phase === "Failed" || phase === "Succeeded") return 0;
  return asked ?? number(pod.spec["terminationGracePeriodSeconds"]) ?? DEFAULT_GRACE_SECONDS;
}

const pods = resource({
  ...core,
  plural: "pods",
  kind: "Pod",
  shortNames: ["po"],
  hasStatus: true,
  hasGeneration: true,
  returnsDeleted: true,
  fields: {
    "spec.nodeName": text("spec.nodeName"),
    "spec.restartPolicy": text("spec.restartPolicy"),
    "spec.serviceAccountName": text("spec.serviceAccountName"),
    "status.phase": text("status.phase"),
    "status.podIP": text("status.podIP"),
  },
  prepare: preparePod,
  validate: validatePod,
  grace: podGrace,
});

const persistentvolumeclaims = resource({
  ...core,
  plural: "persistentvolumeclaims",
  kind: "PersistentVolumeClaim",
  shortNames: ["pvc"],
  hasStatus: true,
  returnsDeleted: true,
  prepare: (next, previous, subresource) => {
    if (previous !== null || subresource === "status") return;
    specOf(next)["volumeMode"] ??= "Filesystem";
    next.status = { phase: "Pending" };
    // The admission plugin StorageObjectInUseProtection.
    next.metadata.finalizers = [...new Set([...(next.metadata.finalizers ?? []), PVC_PROTECTION])];
  },
  validate: (next, previous) => {
    if (!Array.isArray(next.spec?.["accessModes"]) || next.spec["accessModes"].length === 0) {
      const message = "Required value: at least 1 access mode is required";
      return [{ reason: "FieldValueRequired", field: "spec.accessModes", message }];
    }
    if (previous === null) return [];
    const fixed = (object: KubeObject): unknown => ({
      ...object.spec,
      resources: null,
      volumeAttributesClassName: null,
      // A binder fills in the volume's name once.
      volumeName: previous.spec?.["volumeName"] === undefined ? null : (object.spec?.["volumeName"] ?? null),
    });
    if (isDeepStrictEqual(fixed(next), fixed(previous))) return [];
    const allowed =
      "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
    return [forbiddenField("spec", allowed)];
  },
});

const namespaces = resource({
  ...core,
  plural: "namespaces",
  kind: "Namespace",
  shortNames: ["ns"],
  namespaced: false,
  hasStatus: true,
  returnsDeleted: true,
  fields: { "status.phase": text("status.phase") },
  prepare: (next, previous, subresource) => {
    if (previous !== null || subresource === "status") return;
    specOf(next)["finalizers"] = ["kubernetes"];
    statusOf(next)["phase"] = "Active";
    next.metadata.labels = { ...next.metadata.labels, "kubernetes.io/metadata.name": next.metadata.name };
  },
});

const configmaps = resource({
  ...core,
  plural: "configmaps",
  kind: "ConfigMap",
  shortNames: ["cm"],
  validate: frozenData,
});
const secrets = resource({
  ...core,
  plural: "secrets",
  kind: "Secret",
  fields: { type: text("type") },
  prepare: (next, previous) => {
    next["type"] ??= "Opaque";
    if (previous === null || isObject(next["stringData"])) foldStringData(next);
  },
  validate: (next, previous) => {
    const causes = frozenData(next, previous);
    if (previous === null || previous["type"] === next["type"]) return causes;
    const message = `Invalid value: ${JSON.stringify(next["type"])}: field is immutable`;
    return [...causes, { reason: "FieldValueInvalid", field: "type", message }];
  },
});

/** `stringData` is write-only: it goes into `data` as base64. */
function foldStringData(secret: KubeObject): void {
  const plain = secret["stringData"];
  if (!isObject(plain)) return;
  const data = isObject(secret["data"]) ? { ...secret["data"] } : {};
  for (const [key, value] of Object.entries(plain)) data[key] = Buffer.from(textOf(value)).toString("base64");
  secret["data"] = data;
  Reflect.deleteProperty(secret, "stringData");
}

function frozenData(next: KubeObject, previous: KubeObject | null): Cause[] {
  if (previous?.["immutable"] !== true) return [];
  const causes: Cause[] = [];
  if (next["immutable"] !== true)
    causes.push(forbiddenField("immutable", "field is immutable when `immutable` is set"));
  for (const field of ["data", "binaryData"]) {
    if (isDeepStrictEqual(next[field], previous[field])) continue;
    causes.push(forbiddenField(field, "field is immutable when `immutable` is set"));
  }
  return causes;
}

const services = resource({
  ...core,
  plural: "services",
  kind: "Service",
  shortNames: ["svc"],
  hasStatus: true,
  returnsDeleted: true,
});

const eventFields = Object.fromEntries(
  [
    "involvedObject.kind",
    "involvedObject.name",
    "involvedObject.namespace",
    "involvedObject.uid",
    "reason",
    "type",
  ].map((path) => [path, text(path)]),
);
const events = resource({
  ...core,
  plural: "events",
  kind: "Event",
  shortNames: ["ev"],
  createOnUpdate: true,
  fields: eventFields,
  validate: (next) => {
    const where = text("involvedObject.namespace")(next);
    if (where === (next.metadata.namespace ?? "") || (where === "" && next.metadata.namespace === "default"))
      return [];
    const message = `Invalid value: ${JSON.stringify(where)}: does not match event.namespace`;
    return [{ reason: "FieldValueInvalid", field: "involvedObject.namespace", message }];
  },
});

const leases = resource({
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  unconditionalUpdate: false,
  createOnUpdate: true,
  validate: (next) => {
    const seconds = next.spec?.["leaseDurationSeconds"];
    if (seconds === undefined || (typeof seconds === "number" && seconds > 0)) return [];
    const message = `Invalid value: ${JSON.stringify(seconds)}: must be greater than 0`;
    return [{ reason: "FieldValueInvalid", field: "spec.leaseDurationSeconds", message }];
  },
});

export const CRD_STORAGE = "customresourcedefinitions.apiextensions.k8s.io";

/** Definitions are checked and established where they take effect: see custom-resources.ts. */
export function customResourceDefinitions(own: Pick<Resource, "validate">, now: () => number): Resource {
  return resource({
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    shortNames: ["crd"],
    namespaced: false,
    hasStatus: true,
    unconditionalUpdate: false,
    hasGeneration: true,
    validate: own.validate,
    prepare: (next, previous, subresource) => {
      if (subresource === "status") return;
      const spec = specOf(next);
      spec["conversion"] ??= { strategy: "None" };
      if (isObject(spec["names"])) {
        const kind = textOf(spec["names"]["kind"]);
        spec["names"]["singular"] ??= kind.toLowerCase();
        spec["names"]["listKind"] ??= `${kind}List`;
      }
      if (previous !== null) return;
      const since = timestamp(now());
      next.status = {
        acceptedNames: copy(spec["names"] ?? {}),
        storedVersions: storageVersions(next),
        conditions: [
          {
            type: "NamesAccepted",
            status: "True",
            lastTransitionTime: since,
            reason: "NoConflicts",
            message: "no conflicts found",
          },
          {
            type: "Established",
            status: "True",
            lastTransitionTime: since,
            reason: "InitialNamesAccepted",
            message: "the initial names have been accepted",
          },
        ],
      };
    },
  });
}

function storageVersions(definition: KubeObject): string[] {
  const versions = definition.spec?.["versions"];
  if (!Array.isArray(versions)) return [];
  return versions.flatMap((version) =>
    isObject(version) && version["storage"] === true ? [textOf(version["name"])] : [],
  );
}

export const BUILTIN: readonly Resource[] = [
  namespaces,
  pods,
  persistentvolumeclaims,
  configmaps,
  secrets,
  services,
  events,
  leases,
];
