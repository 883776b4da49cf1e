/**
 * A copy that nobody can change, of JSON data.
 *
 * @internal
 */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  const copy = Array.isArray(value)
    ? value.map(frozen)
    : Object.fromEntries(Object.entries(value).map(([key, part]) => [key, frozen(part)]));
  return Object.freeze(copy) as Value;
}
