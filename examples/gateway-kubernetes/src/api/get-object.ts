import { ApiUnreachableError, isObjectMissing } from "./api-error.js";
import type { KubeClient } from "./kube-client.js";
import { nameOf, uidOf, type Plain } from "./plain.js";

/**
 * The object of this name in a collection; `null` when the server says that there is none.
 *
 * @throws ApiUnreachableError when the answer is a success and no such object: something in between has answered, and
 *   nothing is known.
 */
export async function getObject(
  client: KubeClient,
  collection: string,
  name: string,
  signal: AbortSignal,
): Promise<Plain | null> {
  const path = `${collection}/${name}`;
  let found: Plain;
  try {
    found = await client.get(path, { signal });
  } catch (error) {
    if (isObjectMissing(error, name)) return null;
    throw error;
  }
  if (nameOf(found) === name && uidOf(found) !== "") return found;
  throw new ApiUnreachableError(`GET ${path}: the answer is no object of this name`);
}
