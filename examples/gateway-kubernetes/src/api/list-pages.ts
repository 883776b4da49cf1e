import { ApiUnreachableError, isGone } from "./api-error.js";
import type { KubeClient, Query } from "./kube-client.js";
import { recordsOf, resourceVersionOf, textAt, type Plain } from "./plain.js";

/** A part of a list. All pages of one listing are of one resource version. */
export interface ListPage {
  readonly items: readonly Plain[];
  readonly resourceVersion: string;
  /** Where the next page begins, `null` on the last one. */
  readonly next: string | null;
}

export interface ListRequest {
  readonly path: string;
  readonly query: Query;
  readonly pageSize: number;
}

/**
 * One page of a list.
 *
 * @throws ApiUnreachableError when the answer is a success and no list: something in between has answered, and nothing
 *   is known, least of all that everything is gone.
 */
export async function listPage(
  client: KubeClient,
  { path, query, pageSize }: ListRequest,
  from: string | null,
  signal: AbortSignal,
): Promise<ListPage> {
  const limit = pageSize > 0 ? pageSize : undefined;
  const list = await client.get(path, { query: { ...query, limit, continue: from ?? undefined }, signal });
  const resourceVersion = resourceVersionOf(list);
  // A list of nothing has no items, or `null`, and a version all the same.
  if (textAt(list, "kind")?.endsWith("List") !== true || resourceVersion === "")
    throw new ApiUnreachableError(`GET ${path}: the answer is no list`);
  return {
    items: recordsOf(list["items"]),
    resourceVersion,
    next: textAt(list, "metadata", "continue"),
  };
}

/**
 * Goes through a whole list. A listing that grew too old half way is begun again in one piece, which cannot grow old;
 * `restart` then tells that what was seen so far is void.
 */
export async function listAll(
  client: KubeClient,
  request: ListRequest,
  take: { restart(): void; page(items: readonly Plain[]): void },
  signal: AbortSignal,
): Promise<string> {
  let from: string | null = null;
  let whole = request;
  for (;;) {
    try {
      const page: ListPage = await listPage(client, whole, from, signal);
      take.page(page.items);
      if (page.next === null) return page.resourceVersion;
      from = page.next;
    } catch (error) {
      if (!isGone(error) || from === null) throw error;
      take.restart();
      from = null;
      whole = { ...request, pageSize: 0 };
    }
  }
}
