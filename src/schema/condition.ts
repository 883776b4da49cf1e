import * as z from "zod";
import { conditionLimits } from "../conditions/index.js";
import { instantOf } from "../conditions/transition-time.js";

const characters = (limit: number) =>
  z
    .string()
    // Kubernetes counts characters; the length of a string counts units, of which a character may take two.
    .refine((text) => text.length <= limit || Array.from(text).length <= limit, `at most ${limit} characters`)
    .meta({ maxLength: limit });
const reason = z
  .string()
  .min(1)
  .max(conditionLimits.reason)
  .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/);
const cause = z.looseObject({ reason, message: characters(conditionLimits.message) });

/**
 * A condition as Kubernetes accepts it, with Slipway's additive fields. Unknown fields pass, and `reason` is open: a
 * newer peer may send one that is not known here. For lenient reading use `parseConditions`.
 *
 * @public
 */
export const conditionSchema = z
  .looseObject({
    type: z
      .string()
      .min(1)
      .max(conditionLimits.type)
      .regex(
        /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/,
      )
      .describe("Key of the condition in its list."),
    status: z.enum(["True", "False", "Unknown"]),
    reason: reason.describe(
      "Stable, machine-readable word for the current status. Expect words that are not known yet.",
    ),
    message: characters(conditionLimits.message).describe("For people: never parse it."),
    lastTransitionTime: z.iso
      .datetime({ offset: true })
      // In UTC it has to be in the years 1 to 9999, whatever the offset.
      .refine((time) => instantOf(time) !== undefined, "in the years 1 to 9999")
      .describe("RFC 3339, whole seconds: when the status last changed."),
    observedGeneration: z
      .int()
      .min(0)
      .optional()
      .describe("Generation that the writer had seen. Absent makes no claim."),
    cause: cause.optional().describe("A more specific finding behind the reason."),
    generalReasons: z.array(reason).optional().describe("What the reason is a case of, nearest first."),
    convertedFrom: z
      .looseObject({ reason, generalReasons: z.array(reason), cause: cause.optional() })
      .optional()
      .describe(
        "What the writer stated, where the reason was generalised for a reader of an older contract.",
      ),
    unread: z.looseObject({}).optional().describe("What a peer said in known fields and could not be read."),
  })
  .meta({ title: "Condition" });

/**
 * A list of conditions, each type once.
 *
 * @public
 */
export const conditionListSchema = z
  .array(conditionSchema)
  .refine((list) => new Set(list.map(({ type }) => type)).size === list.length, "each type once");
