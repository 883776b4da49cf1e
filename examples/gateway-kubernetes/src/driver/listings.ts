import { randomUUID } from "node:crypto";
import type { Plain } from "../api/plain.js";
import { controllerUid } from "./owned-pods.js";

/** The pods of one listing, by the UID of the resource that owns them. */
export interface Listing {
  readonly id: string;
  readonly begunAt: number;
  readonly podsOf: ReadonlyMap<string, readonly Plain[]>;
}

/** Listings that nobody goes through to the end are dropped when newer ones come. */
const KEPT = 4;

/** Listings under way: the pods are listed once and each page of resources takes its own. */
export class Listings {
  readonly #kept = new Map<string, Listing>();

  begin(pods: readonly Plain[], begunAt: number): Listing {
    const podsOf = new Map<string, Plain[]>();
    for (const pod of pods) {
      const uid = controllerUid(pod);
      if (uid === null) continue;
      const found = podsOf.get(uid);
      if (found === undefined) podsOf.set(uid, [pod]);
      else found.push(pod);
    }
    const listing = { id: randomUUID(), begunAt, podsOf };
    this.#kept.set(listing.id, listing);
    for (const id of this.#kept.keys()) {
      if (this.#kept.size <= KEPT) break;
      this.#kept.delete(id);
    }
    return listing;
  }

  /** The listing that a cursor goes on with, and where; `null` when it is no longer known. */
  resume(cursor: string): { readonly listing: Listing; readonly from: string } | null {
    const [id = "", ...rest] = cursor.split(":");
    const listing = this.#kept.get(id);
    return listing === undefined ? null : { listing, from: rest.join(":") };
  }

  cursor(listing: Listing, next: string | null): string | null {
    if (next !== null) return `${listing.id}:${next}`;
    this.#kept.delete(listing.id);
    return null;
  }
}
