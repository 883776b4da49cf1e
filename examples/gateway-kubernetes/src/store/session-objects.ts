import type { StoredSession } from "@slipway-examples/gateway-core";
import { createHash } from "node:crypto";
import { isRecord, memberOf, nameOf, textAt, type Plain } from "../api/plain.js";
import { GATEWAY_LABEL } from "../resource/names.js";
import { RECORD_GROUP, RECORD_VERSION } from "./record-object.js";

/** Sessions in one object: an entry is about a hundred bytes, an object may have a megabyte and a half. */
export const SESSIONS_IN_ONE = 2000;

/** The sessions of one gateway, or a part of them, as an object of the cluster holds them. */
export interface SessionObject {
  readonly name: string;
  readonly owner: string;
  readonly sessions: ReadonlyMap<string, StoredSession>;
  /** When the last of them ends. */
  readonly until: number;
  readonly object: Plain;
}

/** Names the n-th object of an owner: whatever an owner is called, a name that the cluster takes. */
export function sessionObjectName(gateway: string, owner: string, index: number): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([gateway, owner]))
    .digest("hex")
    .slice(0, 16);
  return `sessions-${digest}-${index}`;
}

/** What is no object of this gateway is `null`; what is no session in it is left out. */
export function readSessions(object: Plain, gateway: string): SessionObject | null {
  if (textAt(object, "metadata", "labels", GATEWAY_LABEL) !== gateway) return null;
  const owner = textAt(object, "spec", "owner");
  if (owner === null) return null;
  const found = memberOf(object, "spec", "sessions");
  const sessions = new Map<string, StoredSession>();
  let latest = 0;
  for (const [id, entry] of Object.entries(isRecord(found) ? found : {})) {
    const instanceId = textAt(entry, "instanceId");
    const until = memberOf(entry, "until");
    if (instanceId === null || typeof until !== "number") continue;
    sessions.set(id, { id, instanceId, owner, until });
    latest = Math.max(latest, until);
  }
  return { name: nameOf(object), owner, sessions, until: latest, object };
}

export type SessionChanges = ReadonlyMap<string, StoredSession | null>;

/** A change of some sessions; `null` takes one out. */
export function sessionsPatch(changes: SessionChanges): Plain {
  const sessions = Object.fromEntries(
    [...changes].map(([id, session]) => [
      id,
      session && { instanceId: session.instanceId, until: session.until },
    ]),
  );
  return { spec: { sessions } };
}

export function newSessionObject(
  place: { readonly namespace: string; readonly gateway: string; readonly owner: string },
  name: string,
  changes: SessionChanges,
): Plain {
  const { namespace, gateway, owner } = place;
  const there = new Map([...changes].filter(([, session]) => session !== null));
  const { spec } = sessionsPatch(there);
  return {
    apiVersion: `${RECORD_GROUP}/${RECORD_VERSION}`,
    kind: "SupervisorSessions",
    metadata: { name, namespace, labels: { [GATEWAY_LABEL]: gateway } },
    spec: { owner, ...(spec as Plain) },
  };
}
