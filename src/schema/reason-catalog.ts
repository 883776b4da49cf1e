import * as z from "zod";
import { defineReasonCatalog, type ReasonCatalog } from "../conditions/index.js";
import { invalid } from "../errors.js";
import { firstFault } from "./fault.js";

const contract = z.int().min(1);
const text = z.string().min(1);
const reasonClass = z.enum(["waiting", "transient", "terminal", "informational"]);

/**
 * A reason catalog as plain JSON: its shape. What the shape cannot say (references, circles, names that differ by case
 * only) is checked by `decodeReasonCatalog`.
 *
 * @public
 */
export const reasonCatalogSchema = z
  .strictObject({
    name: text,
    contract,
    types: z.record(
      z.string(),
      z.strictObject({
        polarity: z.enum(["positive", "negative", "neutral"]),
        presence: z.enum(["always", "while-true", "once-reached"]),
        summary: text,
      }),
    ),
    reasons: z.record(
      z.string(),
      z.strictObject({
        types: z.array(text).min(1),
        class: reasonClass,
        phases: z.array(text).optional(),
        since: contract.optional(),
        deprecatedIn: contract.optional(),
        replacedBy: text.optional(),
        refines: z.array(text).optional(),
        sources: z
          .array(z.strictObject({ backend: text, raw: z.array(text).min(1), versions: text.optional() }))
          .optional(),
        summary: text,
        action: text.optional(),
      }),
    ),
    emits: z.array(
      z.strictObject({
        operation: text,
        cause: text,
        type: text,
        reason: text,
        generalReasons: z.array(text).optional(),
        since: contract.optional(),
      }),
    ),
    retired: z
      .record(
        z.string(),
        z.strictObject({
          retiredIn: z.int().min(2),
          class: reasonClass.optional(),
          replacedBy: text.optional(),
        }),
      )
      .optional(),
  })
  .meta({ title: "Reason catalog" });

/**
 * Decodes a catalog from a file or a lock, strictly.
 *
 * @throws SlipwayError `INVALID_CATALOG` - with the path of the first wrong field.
 *
 * @example
 * ```ts
 * import { decodeReasonCatalog } from "slipway/schema";
 *
 * decodeReasonCatalog({ name: "builds", contract: 1, types: {}, reasons: {}, emits: [] }).name; // => "builds"
 * ```
 *
 * @public
 */
export function decodeReasonCatalog(value: unknown): ReasonCatalog {
  const { success, data, error } = reasonCatalogSchema.safeParse(value);
  if (success) return defineReasonCatalog<string, string, string>(data);
  const { field, expected, value: found } = firstFault(error, value);
  throw invalid("INVALID_CATALOG", "catalog", field, expected, found);
}
