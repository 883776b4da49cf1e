import type { Context } from "hono";
import type { z } from "zod";
import { checkInput } from "../check-input.js";
import { InvalidInputError } from "../input-error.js";

/** @throws InvalidInputError naming the field and the value */
export async function readBody<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const text = await context.req.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new InvalidInputError("body", "JSON", text);
  }
  return checkInput(schema, body);
}

export function readQuery<Schema extends z.ZodType>(context: Context, schema: Schema): z.infer<Schema> {
  return checkInput(schema, context.req.query(), "query");
}

/** The secret of an Authorization header, empty when there is none. */
export function bearer(context: Context): string {
  return /^Bearer (.+)$/i.exec(context.req.header("authorization") ?? "")?.[1] ?? "";
}
