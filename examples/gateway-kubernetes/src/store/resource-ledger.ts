import type { ActivationEntry, ActivationLedger, ActivationState } from "slipway/retry";
import { isRecord, textAt, type Plain } from "../api/plain.js";
import type { ResourceStore } from "./resource-store.js";

/** Entries of earlier instances that a record keeps: an end that is reported late still finds its own. */
const KEPT = 8;

/**
 * The activation ledger in the record's own object, changed by its resource version: of a start and a stop that meet,
 * on whichever gateways, one wins. Keys are the sandbox's id, a slash, and the id of the instance.
 */
export class ResourceLedger implements ActivationLedger {
  readonly #store: ResourceStore;

  constructor(store: ResourceStore) {
    this.#store = store;
  }

  async read(key: string): Promise<ActivationEntry | null> {
    const [sandbox, instance] = parts(key);
    return entryOf((await this.#store.activations(sandbox))?.[instance]);
  }

  async compareAndSwap(
    key: string,
    expectedVersion: number | null,
    next: ActivationEntry | null,
  ): Promise<boolean> {
    const [sandbox, instance] = parts(key);
    return this.#store.changeActivations(sandbox, (found) => {
      const entry = entryOf(found[instance]);
      // Written already: the answer to this very write was lost.
      if (entry !== null && next !== null && isSame(entry, next)) return "done";
      if ((entry?.version ?? null) !== expectedVersion) return "refused";
      return { [instance]: next === null ? null : plainEntry(next), ...former(found, instance) };
    });
  }

  /** The store that it is a part of is closed by its owner. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  /** The entries are in the record's object and go with it. */
  forget(): Promise<void> {
    return Promise.resolve();
  }
}

function parts(key: string): readonly [string, string] {
  const slash = key.indexOf("/");
  if (slash < 0)
    throw new Error(`An activation's key is a sandbox's id, a slash and an instance's id, got ${key}`);
  return [key.slice(0, slash), key.slice(slash + 1)];
}

function isSame(a: ActivationEntry, b: ActivationEntry): boolean {
  return (
    a.version === b.version && a.state === b.state && a.claim === b.claim && a.claim !== null && a.at === b.at
  );
}

function plainEntry({ state, version, claim, at }: ActivationEntry): Plain {
  return { state, version, claim, at };
}

/** A state of a newer gateway is kept as it is: the rules read it as uncertain. */
function entryOf(value: unknown): ActivationEntry | null {
  if (!isRecord(value)) return null;
  const { version, at } = value;
  const state = textAt(value, "state");
  if (state === null || typeof version !== "number" || typeof at !== "number") return null;
  return { state: state as ActivationState, version, claim: textAt(value, "claim"), at };
}

/** Takes the oldest entries away, so that a sandbox that was started a thousand times stays small. */
function former(found: Plain, but: string): Record<string, null> {
  const others = Object.entries(found)
    .filter(([instance]) => instance !== but)
    .sort(([, a], [, b]) => (entryOf(b)?.at ?? 0) - (entryOf(a)?.at ?? 0));
  return Object.fromEntries(others.slice(KEPT).map(([instance]) => [instance, null]));
}
