import * as z from "zod";
import { conditionListSchema, conditionSchema } from "./condition.js";
import { reasonCatalogSchema } from "./reason-catalog.js";
import { type JsonSchema, structuralSchema } from "./structural-schema.js";

/**
 * The JSON Schema (2020-12) of a condition, of a list of them, or of a reason catalog.
 *
 * @example
 * ```ts
 * import { jsonSchemas } from "slipway/schema";
 *
 * jsonSchemas().condition["$schema"]; // => "https://json-schema.org/draft/2020-12/schema"
 * ```
 *
 * @public
 */
export function jsonSchemas(): Readonly<Record<"condition" | "conditionList" | "reasonCatalog", JsonSchema>> {
  return {
    condition: generate(conditionSchema),
    conditionList: generate(conditionListSchema),
    reasonCatalog: generate(reasonCatalogSchema),
  };
}

/**
 * The `conditions` property of a custom resource's status as a Kubernetes structural schema: a list keyed by type, so
 * that the server refuses twins and merges by type, with at most 32 entries.
 *
 * @example
 * ```ts
 * import { conditionsCrdSchema } from "slipway/schema";
 *
 * conditionsCrdSchema()["x-kubernetes-list-map-keys"]; // => ["type"]
 * ```
 *
 * @public
 */
export function conditionsCrdSchema(): JsonSchema {
  return {
    type: "array",
    maxItems: 32,
    items: structuralSchema(generate(conditionSchema)),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  };
}

function generate(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { target: "draft-2020-12", reused: "inline", io: "input" });
}
