import type { z } from "zod";
import { InvalidInputError } from "./input-error.js";

/**
 * Reads input with a schema. The error is about the first fault: its field, what was expected there, and the value
 * that was found.
 *
 * @throws InvalidInputError
 */
export function checkInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  root = "",
): z.infer<Schema> {
  refuseDroppedKey(root, input);
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const issue = deepest(result.error.issues[0]);
  if (issue === undefined) throw new InvalidInputError(root || "body", "valid", input);
  const unknownKey = issue.code === "unrecognized_keys" ? issue.keys[0] : undefined;
  const path = unknownKey === undefined ? issue.path : [...issue.path, unknownKey];
  const expected = unknownKey === undefined ? expectation(issue.message) : "absent (no such field)";
  throw new InvalidInputError(fieldName(root, path), expected, valueAt(input, path));
}

/** The schema library leaves this key out of what it gives back, and what was sent would be lost without a word. */
const DROPPED = "__proto__";

interface Place {
  readonly value: object;
  readonly key: PropertyKey;
  readonly above: Place | null;
}

/** However deep the value is: a path is put together only where it is told. */
function refuseDroppedKey(root: string, input: unknown): void {
  const left: Place[] = [];
  // What a program hands over may lead back into itself, as no text from outside can.
  const seen = new Set<object>();
  const visit = (value: unknown, key: PropertyKey, above: Place | null): void => {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    left.push({ value, key, above });
  };
  visit(input, "", null);
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    const { value } = place;
    if (Object.hasOwn(value, DROPPED)) {
      const path: PropertyKey[] = [DROPPED];
      for (let at = place; at.above !== null; at = at.above) path.unshift(at.key);
      throw new InvalidInputError(fieldName(root, path), "absent (no such field)", undefined);
    }
    for (const [key, found] of Object.entries(value))
      visit(found, Array.isArray(value) ? Number(key) : key, place);
  }
}

type Issue = z.core.$ZodIssue;

/** Of a union that failed, the branch that came closest says more than "invalid input". */
function deepest(issue: Issue | undefined): Issue | undefined {
  if (issue?.code !== "invalid_union") return issue;
  const branches = issue.errors.flatMap((branch) => branch[0] ?? []);
  const best = branches.sort((a, b) => b.path.length - a.path.length)[0];
  return best === undefined ? issue : { ...best, path: [...issue.path, ...best.path] };
}

/** Words of ours say what is expected; the schema library's own say it after the word "expected". */
function expectation(message: string): string {
  const expected = /expected (.+?)(?:, received .*)?$/.exec(message)?.[1];
  return (expected ?? message).replace(/^(\w+) to (?:be|have) /, "a $1 ");
}

function fieldName(root: string, path: readonly PropertyKey[]): string {
  const name = path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, root);
  return name === "" ? "body" : name;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
    input,
  );
}
