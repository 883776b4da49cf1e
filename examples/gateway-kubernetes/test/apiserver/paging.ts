import type { KubeObject } from "./object.js";
import type { Predicate } from "./selectors.js";
import { badRequest, expired, invalidOptions, tooLargeVersion } from "./status.js";
import type { Store } from "./store.js";

export interface ListQuery {
  readonly limit: number;
  readonly continueToken: string;
  /** "" for the newest state. */
  readonly resourceVersion: string;
  readonly match: string;
}

export interface Page {
  readonly objects: KubeObject[];
  readonly revision: number;
  readonly continueToken?: string;
  readonly remaining?: number;
}

interface Token {
  /** The revision whose state is paged through; -1 for the newest. */
  readonly rv: number;
  /** The last key that was given. */
  readonly after: string;
}

const COMPACTED =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

export function parseVersion(text: string): number {
  if (!/^\d+$/.test(text))
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
    );
  return Number(text);
}

function seal(token: Token): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", ...token })).toString("base64url");
}

function unseal(text: string): Token {
  try {
    const token = JSON.parse(Buffer.from(text, "base64url").toString()) as Partial<Token>;
    if (typeof token.rv === "number" && typeof token.after === "string")
      return { rv: token.rv, after: token.after };
  } catch {
    // Falls through to the one refusal.
  }
  throw badRequest("invalid continue token: continue key is not valid");
}

function checkQuery({ continueToken, resourceVersion, match }: ListQuery): void {
  if (match !== "") {
    const refuse = (message: string): Error => invalidOptions("ListOptions", "resourceVersionMatch", message);
    if (resourceVersion === "") {
      throw refuse("Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (continueToken !== "")
      throw refuse("Forbidden: resourceVersionMatch is forbidden when continue is provided");
    if (match !== "Exact" && match !== "NotOlderThan") {
      throw refuse(`Unsupported value: "${match}": supported values: "Exact", "NotOlderThan", ""`);
    }
    if (match === "Exact" && resourceVersion === "0") {
      throw refuse('Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (continueToken !== "" && resourceVersion !== "" && resourceVersion !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
}

/** Where a list reads: the revision and the key to go on after. */
function place(store: Store, query: ListQuery): Token {
  checkQuery(query);
  if (query.continueToken !== "") {
    const token = unseal(query.continueToken);
    if (token.rv === -1) return { rv: store.revision, after: token.after };
    if (token.rv < store.compacted) throw expired(COMPACTED, seal({ rv: -1, after: token.after }));
    return token;
  }
  if (query.resourceVersion === "" || query.resourceVersion === "0") return { rv: store.revision, after: "" };
  const asked = parseVersion(query.resourceVersion);
  if (asked > store.revision) throw tooLargeVersion(asked, store.revision);
  if (query.match !== "Exact") return { rv: store.revision, after: "" };
  if (asked < store.compacted) throw expired(`The resourceVersion for the provided list is too old.`);
  return { rv: asked, after: "" };
}

/**
 * One page of a list, read at one revision from the first page to the last. As on a real server a page is cut when it
 * is full, so that with a selector the last page may be empty.
 */
export function page(
  store: Store,
  resource: string,
  prefix: string,
  wanted: Predicate | null,
  query: ListQuery,
): Page {
  const { rv, after } = place(store, query);
  // "Any version will do" is answered from memory, in one piece.
  const limit = query.resourceVersion === "0" ? 0 : query.limit;
  const objects: KubeObject[] = [];
  let last = "";
  let remaining = 0;
  for (const [key, object] of store.list(resource, prefix, rv, after)) {
    if (limit > 0 && objects.length === limit) remaining += 1;
    else {
      last = key;
      if (wanted === null || wanted(object)) objects.push(object);
    }
  }
  if (remaining === 0) return { objects, revision: rv };
  const continueToken = seal({ rv, after: last });
  return { objects, revision: rv, continueToken, ...(wanted === null ? { remaining } : {}) };
}
