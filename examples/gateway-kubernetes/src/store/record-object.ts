import {
  headOf,
  InvalidInputError,
  type JsonObject,
  type RecordChange,
  type StoredRecord,
} from "@slipway-examples/gateway-core";
import { isRecord, memberOf, nameOf, resourceVersionOf, textAt, uidOf, type Plain } from "../api/plain.js";
import { shownMessage } from "../publish/shown-message.js";
import { GATEWAY_LABEL, LABEL_VALUE, OBJECT_NAME, SANDBOX_LABEL } from "../resource/names.js";

export const RECORD_GROUP = "gateway.slipway.dev";
export const RECORD_VERSION = "v1alpha1";

/** A record as the cluster keeps it, with what is needed to change it. The value stays text until somebody reads it. */
export interface RecordObject {
  readonly id: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly version: number;
  readonly dueAt: number | null;
  readonly value: string;
  /** Names the write that made this version: a write whose answer was lost is known again by it. */
  readonly write: string;
  /** Which runs may start their main process, by instance. Kept beside the record: a change of it is no new version. */
  readonly activations: Plain;
}

const NONE: Plain = {};

/** What is no record of this gateway is `null`. */
export function readRecord(object: Plain, gateway: string): RecordObject | null {
  if (textAt(object, "metadata", "labels", GATEWAY_LABEL) !== gateway) return null;
  const spec = object["spec"];
  const id = textAt(spec, "id");
  const value = textAt(spec, "value");
  const version = memberOf(spec, "version");
  if (id === null || value === null || typeof version !== "number") return null;
  const dueAt = memberOf(spec, "dueAt");
  const activations = memberOf(spec, "activations");
  return {
    id,
    name: nameOf(object),
    uid: uidOf(object),
    resourceVersion: resourceVersionOf(object),
    version,
    dueAt: typeof dueAt === "number" ? dueAt : null,
    value,
    write: textAt(spec, "write") ?? "",
    activations: isRecord(activations) ? activations : NONE,
  };
}

export function storedRecord({ id, name, version, dueAt, value }: RecordObject): StoredRecord {
  return { id, name, version, dueAt, value: JSON.parse(value) as JsonObject };
}

/** @throws InvalidInputError for an id or name that no object of the cluster can have. */
export function newRecordObject(
  record: Omit<StoredRecord, "version">,
  place: { readonly namespace: string; readonly gateway: string; readonly write: string },
): Plain {
  const { id, name } = record;
  if (!LABEL_VALUE.test(id)) throw new InvalidInputError("id", "a label value of the cluster", id);
  if (!OBJECT_NAME.test(name)) throw new InvalidInputError("name", "a DNS label", name);
  return {
    apiVersion: `${RECORD_GROUP}/${RECORD_VERSION}`,
    kind: "SandboxRecord",
    metadata: {
      name,
      namespace: place.namespace,
      labels: { [GATEWAY_LABEL]: place.gateway, [SANDBOX_LABEL]: id },
    },
    ...withoutNulls(contentOf(record, 1, place.write)),
  };
}

/** In a patch `null` takes a field away; a new object goes without it. */
function withoutNulls(content: Plain): Plain {
  return Object.fromEntries(
    Object.entries(content)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [key, isRecord(value) ? withoutNulls(value) : value]),
  );
}

/** The change of one version into the next, refused by the server when the object is no longer the one that was read. */
export function recordPatch(read: RecordObject, change: RecordChange, write: string): Plain {
  return {
    metadata: { uid: read.uid, resourceVersion: read.resourceVersion },
    ...contentOf({ ...change, id: read.id }, read.version + 1, write),
  };
}

function contentOf(
  { id, dueAt, value }: RecordChange & { readonly id: string },
  version: number,
  write: string,
): Plain {
  return {
    spec: { id, version, dueAt, write, value: JSON.stringify(value) },
    // For people and their tables; nobody decides on it.
    view: {
      phase: shown(textAt(value, "phase")),
      reason: shown(textAt(value, "reason")),
      message: shown(shownMessage(value)),
    },
  };
}

const LONGEST_SHOWN = 300;

function shown(text: string | null): string | null {
  return text === null ? null : headOf(text, LONGEST_SHOWN);
}
