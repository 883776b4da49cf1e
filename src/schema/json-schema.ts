import * as z from "zod";
import { conditionListSchema, conditionSchema } from "./condition.js";
import { deadlineStateSchema } from "./deadline-state.js";
import { reasonCatalogSchema } from "./reason-catalog.js";
import { type JsonSchema, structuralSchema } from "./structural-schema.js";
import { trackerStateSchema } from "./tracker-state.js";

/**
 * The JSON Schemas (2020-12) of a condition, of a list of them, of a reason catalog, and of a persisted deadline and
 * persisted steps. They say the shape. That a list has each type once is for `conditionListSchema` to check, that the
 * names in a catalog lead to one that is there for `decodeReasonCatalog`, and that a record does not contradict itself for
 * `decodeDeadlineState` and `decodeTrackerState`.
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
export function jsonSchemas(): Readonly<
  Record<"condition" | "conditionList" | "reasonCatalog" | "deadlineState" | "trackerState", JsonSchema>
> {
  return {
    condition: generate(conditionSchema),
    conditionList: generate(conditionListSchema),
    reasonCatalog: generate(reasonCatalogSchema),
    deadlineState: generate(deadlineStateSchema),
    trackerState: generate(trackerStateSchema),
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

/**
 * A persisted deadline as a Kubernetes structural schema, for a gateway that keeps it in a custom resource.
 *
 * @example
 * ```ts
 * import { deadlineCrdSchema } from "slipway/schema";
 *
 * deadlineCrdSchema()["type"]; // => "object"
 * ```
 *
 * @public
 */
export function deadlineCrdSchema(): JsonSchema {
  return structuralSchema(generate(deadlineStateSchema));
}

function generate(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { target: "draft-2020-12", reused: "inline", io: "input" });
}
