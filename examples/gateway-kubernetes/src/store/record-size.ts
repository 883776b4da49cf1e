import { InvalidInputError, type JsonObject } from "@slipway-examples/gateway-core";
import type { Plain } from "../api/plain.js";

/** What the storage behind an API server takes is a megabyte and a half, with what the server adds to an object. */
const MOST_BYTES = 1_400_000;
/**
 * What a user may fill of it. What becomes of a sandbox is written into the same object, a stop and a delete included:
 * one that was full from the beginning could not even be deleted.
 */
const MOST_GIVEN_BYTES = 1_200_000;

/** Six bytes each as the server stores them, which writes JSON that is safe inside a page. */
const ESCAPED = /[<>&\u2028\u2029]/g;

/** What an object, or a change of one, takes in the storage. */
export function storedBytes(object: Plain): number {
  const text = JSON.stringify(object);
  return Buffer.byteLength(text) + 5 * (text.match(ESCAPED)?.length ?? 0);
}

/**
 * A new record that the cluster cannot hold, with all that becomes of its sandbox, is refused before it is sent: the
 * server's own answer is that it failed, which looks as if another try could help.
 *
 * @throws InvalidInputError
 */
export function refuseTooLarge(object: Plain): void {
  refuseOver(MOST_GIVEN_BYTES, storedBytes(object));
}

/**
 * The same for a change. One that asks for more than before, as another policy does, has to leave room as a new record
 * does.
 *
 * @param before - The value of the record that is changed, as it is kept.
 * @param value - The value that it is to have.
 * @throws InvalidInputError
 */
export function refuseTooLargeChange(patch: Plain, before: string, value: JsonObject): void {
  const bytes = storedBytes(patch);
  if (bytes <= MOST_GIVEN_BYTES) return;
  const asksForMore = givenBytes(value) > givenBytes(JSON.parse(before) as JsonObject);
  refuseOver(asksForMore ? MOST_GIVEN_BYTES : MOST_BYTES, bytes);
}

/** What a user has asked for, of all that a record has. */
function givenBytes({ spec, configuration }: JsonObject): number {
  return storedBytes({ value: JSON.stringify({ spec, configuration }) });
}

function refuseOver(limit: number, bytes: number): void {
  if (bytes <= limit) return;
  throw new InvalidInputError(
    "record",
    `at most ${limit} bytes as the cluster stores it: a smaller policy or command`,
    `${bytes} bytes`,
  );
}
