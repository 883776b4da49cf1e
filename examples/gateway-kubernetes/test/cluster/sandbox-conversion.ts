import { without, type KubeObject, type Meta } from "../apiserver/object.js";

const STATE = "slipway.test/v1alpha1-replicas";

/**
 * Stands for the conversion webhook of agent-sandbox between v1alpha1 (`spec.replicas`, 0 or 1) and v1beta1
 * (`spec.operatingMode`, Running or Suspended). As with the real one, reasons pass unchanged, and `status.replicas` of the
 * v1alpha1 view is what a v1alpha1 writer last saved (in an annotation that its own view hides), or else a guess from
 * the mode.
 */
export function convertSandbox(object: KubeObject, toVersion: string): KubeObject {
  return toVersion === "v1beta1" ? toBeta(object) : toAlpha(object);
}

function toBeta(object: KubeObject): KubeObject {
  const { replicas, ...spec } = object.spec ?? {};
  const { replicas: counted, ...status } = object.status ?? {};
  const converted: KubeObject = {
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { ...object.metadata.annotations, [STATE]: String(Number(counted ?? 0)) },
    },
    spec: { ...spec, operatingMode: replicas === 0 ? "Suspended" : "Running" },
  };
  if (object.status !== undefined) converted.status = status;
  return converted;
}

function toAlpha(object: KubeObject): KubeObject {
  const { operatingMode, ...spec } = object.spec ?? {};
  const status = without(object.status ?? {}, "nodeName");
  const { [STATE]: saved, ...annotations } = object.metadata.annotations ?? {};
  const metadata: Meta = { ...object.metadata, annotations };
  if (Object.keys(annotations).length === 0) Reflect.deleteProperty(metadata, "annotations");
  const replicas = operatingMode === "Suspended" ? 0 : 1;
  const converted: KubeObject = {
    ...object,
    metadata,
    spec: { ...spec, replicas },
  };
  // The count has no omitempty in the newest type: once there is a status, it is there.
  if (object.status !== undefined || saved !== undefined) {
    converted.status = { ...status, replicas: saved === undefined ? replicas : Number(saved) };
  }
  return converted;
}
