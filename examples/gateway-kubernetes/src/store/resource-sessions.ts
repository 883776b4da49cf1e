import type { SessionStore, StoredSession } from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import { isAlreadyExists, isConflict, isObjectMissing, isStatus } from "../api/api-error.js";
import type { KubeClient } from "../api/kube-client.js";
import { pause } from "../api/pause.js";
import { nameOf, resourceVersionOf, uidOf, type Plain } from "../api/plain.js";
import { Reflector, type ReflectorSink } from "../api/reflector.js";
import { GATEWAY_LABEL } from "../resource/names.js";
import { RECORD_GROUP, RECORD_VERSION } from "./record-object.js";
import {
  newSessionObject,
  readSessions,
  sessionObjectName,
  SESSIONS_IN_ONE,
  sessionsPatch,
  type SessionChanges,
  type SessionObject,
} from "./session-objects.js";

export interface ResourceSessionsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly namespace: string;
  readonly gateway: string;
  readonly random?: (() => number) | undefined;
  /** Ends everything that is under way, with the store that this belongs to. */
  readonly signal: AbortSignal;
}

/** Contacts come all the time: what came meanwhile goes into one write. */
const WRITE_EVERY_MS = 1000;
/** What a gateway that is gone has left is removed so long after its last session ended. */
const LEFT_MS = 600_000;

/** A session that this gateway holds, and in which of its objects it is. */
interface Held {
  readonly session: StoredSession;
  readonly index: number;
}

/**
 * Sessions of supervisors beside the records: each gateway writes objects of its own and nobody else's, so that no two
 * writes ever meet, and reads those of all from a watch. A session has a lease, and the latest one of a sandbox counts.
 * What is read is behind by the time that news take: a session is evidence that a run lives, and none proves nothing.
 */
export class ResourceSessions implements SessionStore {
  readonly #options: ResourceSessionsOptions;
  readonly #path: string;
  readonly #mirror: SessionMirror;
  readonly #held = new Map<string, Held>();
  /** Objects that were begun anew by this process: what one of the same name held before is not its own. */
  readonly #begun = new Set<string>();
  readonly #sizes: number[] = [];
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** The latest time that this store was told. */
  #now = Number.NEGATIVE_INFINITY;

  #following: Promise<void> | null = null;
  #removing: Promise<void> | null = null;

  constructor(options: ResourceSessionsOptions) {
    this.#options = options;
    const { namespace, gateway } = options;
    this.#path = `/apis/${RECORD_GROUP}/${RECORD_VERSION}/namespaces/${namespace}/supervisorsessions`;
    this.#mirror = new SessionMirror(gateway);
  }

  /** Resolves once they are written, which is at most once a second. */
  async keepSessions(sessions: readonly StoredSession[]): Promise<void> {
    const { clock, signal } = this.#options;
    const rest = this.#writtenAt + WRITE_EVERY_MS - clock.now();
    if (rest > 0) await pause(clock, rest, signal);
    const changes = new Map<number, Map<string, StoredSession | null>>();
    const note = (index: number, id: string, session: StoredSession | null): void => {
      const found = changes.get(index) ?? new Map<string, StoredSession | null>();
      changes.set(index, found.set(id, session));
    };
    for (const [id, { session, index }] of this.#held) {
      if (session.until > this.#now) continue;
      this.#drop(id);
      note(index, id, null);
    }
    for (const session of sessions) note(this.#hold(session), session.id, session);
    const owner = sessions[0]?.owner;
    if (owner === undefined) return;
    this.#writtenAt = clock.now();
    for (const [index, some] of changes) await this.#write(owner, index, some);
  }

  liveSessions(now: number, ids?: readonly string[]): Promise<readonly StoredSession[]> {
    this.#follow();
    this.#now = Math.max(this.#now, now);
    const live = new Map<string, StoredSession>();
    const note = (session: StoredSession | undefined): void => {
      if (session === undefined || session.until <= now) return;
      const other = live.get(session.id);
      if (other === undefined || session.until > other.until) live.set(session.id, session);
    };
    for (const { sessions } of this.#mirror.values()) {
      if (ids === undefined) for (const session of sessions.values()) note(session);
      else for (const id of ids) note(sessions.get(id));
    }
    // Its own are known here before they are told of.
    for (const id of ids ?? this.#held.keys()) note(this.#held.get(id)?.session);
    if (ids === undefined) void this.sweepSessions(now);
    return Promise.resolve([...live.values()]);
  }

  /** Of its own a gateway drops with the next write what has run out: here go the objects of those that are gone. */
  sweepSessions(before: number): Promise<void> {
    this.#removing ??= this.#removeLeft(before).finally(() => (this.#removing = null));
    return this.#removing;
  }

  async endSessions(owner: string): Promise<void> {
    this.#held.clear();
    this.#sizes.length = 0;
    const names = [...this.#begun];
    this.#begun.clear();
    for (const { name } of this.#mirror.values().filter((each) => each.owner === owner)) {
      if (!names.includes(name)) names.push(name);
    }
    for (const name of names) await this.#delete(name, {});
  }

  /** Resolves once nothing is under way any more, after the signal. */
  async ended(): Promise<void> {
    await this.#following;
    await this.#removing;
  }

  /** From the first question on: a store that nobody asks for sessions costs no watch. */
  #follow(): void {
    const { client, clock, random, gateway, signal } = this.#options;
    if (this.#following !== null || signal.aborted) return;
    const query = { labelSelector: `${GATEWAY_LABEL}=${gateway}` };
    const reflector = new Reflector({ client, clock, random, path: this.#path, query, sink: this.#mirror });
    this.#following = reflector.run(signal);
  }

  /** Takes a session on; the index of the object that it is in. It stays where it is. */
  #hold(session: StoredSession): number {
    let index = this.#held.get(session.id)?.index;
    if (index === undefined) {
      index = this.#sizes.findIndex((size) => size < SESSIONS_IN_ONE);
      if (index < 0) index = this.#sizes.length;
      this.#sizes[index] = (this.#sizes[index] ?? 0) + 1;
    }
    this.#held.set(session.id, { session, index });
    return index;
  }

  #drop(id: string): void {
    const index = this.#held.get(id)?.index;
    if (index === undefined) return;
    this.#held.delete(id);
    this.#sizes[index] = (this.#sizes[index] ?? 1) - 1;
  }

  async #write(owner: string, index: number, changes: SessionChanges): Promise<void> {
    const { client, namespace, gateway, signal } = this.#options;
    const name = sessionObjectName(gateway, owner, index);
    const path = `${this.#path}/${name}`;
    if (this.#begun.has(name)) {
      try {
        await client.patch(path, sessionsPatch(changes), { signal });
        return;
      } catch (error) {
        if (!isObjectMissing(error, name)) throw error;
      }
    } else await this.#delete(name, {});
    const all = new Map<string, StoredSession>();
    for (const { session, index: where } of this.#held.values())
      if (where === index) all.set(session.id, session);
    await client
      .create(this.#path, newSessionObject({ namespace, gateway, owner }, name, all), { signal })
      .catch(async (error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
        // The answer to an earlier try of this very creation was lost.
        await client.patch(path, sessionsPatch(all), { signal });
      });
    this.#begun.add(name);
  }

  /** One after another, and only what nobody has written since: a gateway that lives writes all the time. */
  async #removeLeft(now: number): Promise<void> {
    const left = this.#mirror.values().filter(({ name, until }) => {
      return !this.#begun.has(name) && until < now - LEFT_MS;
    });
    for (const { name, object } of left) {
      const preconditions = { uid: uidOf(object), resourceVersion: resourceVersionOf(object) };
      await this.#delete(name, { preconditions }).catch(() => undefined);
    }
  }

  async #delete(name: string, options: Plain): Promise<void> {
    const { client, signal } = this.#options;
    const body = { apiVersion: "v1", kind: "DeleteOptions", ...options };
    try {
      await client.delete(`${this.#path}/${name}`, body, { signal });
    } catch (error) {
      if (!isStatus(error, 404) && !isConflict(error)) throw error;
    }
  }
}

/** The objects of all gateways as last heard of. */
class SessionMirror implements ReflectorSink {
  readonly #gateway: string;
  #objects = new Map<string, SessionObject>();
  #listed: Map<string, SessionObject> | null = null;

  constructor(gateway: string) {
    this.#gateway = gateway;
  }

  values(): SessionObject[] {
    return [...this.#objects.values()];
  }

  listing(): void {
    this.#listed = new Map();
  }

  page(items: readonly Plain[]): void {
    for (const item of items) this.#take(item, this.#listed ?? this.#objects);
  }

  listed(): void {
    this.#objects = this.#listed ?? this.#objects;
    this.#listed = null;
  }

  changed(object: Plain): void {
    this.#take(object, this.#objects);
  }

  deleted(object: Plain): void {
    this.#objects.delete(nameOf(object));
  }

  #take(object: Plain, into: Map<string, SessionObject>): void {
    const found = readSessions(object, this.#gateway);
    if (found !== null) into.set(found.name, found);
  }
}
