import { z } from "zod";
import { checkInput } from "../check-input.js";
import type { JsonObject } from "../record/json.js";

const count = z.int().nonnegative();

/** What a create request may say to the process driver. The faults exist for the demo and the tests. */
const schema = z.strictObject({
  bytesPerSecond: z.int().positive().optional(),
  fault: z
    .strictObject({
      stallAtBytes: count.optional(),
      repeatReports: z.boolean().optional(),
      /** Go on working and reporting for so long after being told to stop. */
      deafForMs: count.max(60_000).optional(),
    })
    .optional(),
});

export type ProcessOptions = z.infer<typeof schema>;

export function parseProcessOptions(options: JsonObject): ProcessOptions {
  return checkInput(schema, options, "driverOptions");
}
