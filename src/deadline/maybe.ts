import { hasMethod } from "../errors.js";

/**
 * A value, or the promise of one: what needs no store is there at once.
 *
 * @internal
 */
export type Maybe<T> = T | PromiseLike<T>;

/** @internal */
export function isPromiseLike<T>(value: Maybe<T>): value is PromiseLike<T> {
  return hasMethod(value, "then");
}
