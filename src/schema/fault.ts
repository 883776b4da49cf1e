import type * as z from "zod";
import type { Fault } from "../errors.js";

/**
 * The first issue of a zod error as a fault that names the field and the value, `phases[0].budgetMs` and `-1`.
 *
 * @internal
 */
export function firstFault(error: z.core.$ZodError, input: unknown): Fault {
  const issue = error.issues[0];
  if (issue === undefined) return { field: "", expected: "valid", value: input };
  const path = issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] ?? ""] : issue.path;
  return { field: fieldOf(path), expected: expectation(issue), value: valueAt(input, path) };
}

/** Types as this library calls them; what was found is said beside it. */
const NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  int: "an integer",
  object: "an object",
  array: "an array",
  record: "an object",
};

function expectation(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") return "absent";
  if (issue.code === "invalid_type") return NAMES[issue.expected] ?? `a ${issue.expected}`;
  return `what its schema says (${issue.message.replace(/^Invalid input: /, "")})`;
}

function fieldOf(path: readonly PropertyKey[]): string {
  let field = "";
  for (const key of path) {
    if (typeof key === "number") field += `[${key}]`;
    else field += field === "" ? String(key) : `.${String(key)}`;
  }
  return field;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
