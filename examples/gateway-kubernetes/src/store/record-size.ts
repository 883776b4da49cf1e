import { InvalidInputError } from "@slipway-examples/gateway-core";
import type { Plain } from "../api/plain.js";

/** What the storage behind an API server takes is a megabyte and a half, with what the server adds to an object. */
const MOST_BYTES = 1_400_000;

/** Six bytes each as the server stores them, which writes JSON that is safe inside a page. */
const ESCAPED = /[<>&\u2028\u2029]/g;

/** What an object, or a change of one, takes in the storage. */
export function storedBytes(object: Plain): number {
  const text = JSON.stringify(object);
  return Buffer.byteLength(text) + 5 * (text.match(ESCAPED)?.length ?? 0);
}

/**
 * A record that the cluster cannot hold is refused before it is sent: the server's own answer is that it failed, which
 * looks as if another try could help.
 *
 * @throws InvalidInputError
 */
export function refuseTooLarge(object: Plain): void {
  const bytes = storedBytes(object);
  if (bytes > MOST_BYTES)
    throw new InvalidInputError(
      "record",
      `at most ${MOST_BYTES} bytes as the cluster stores it: a smaller policy or command`,
      `${bytes} bytes`,
    );
}
