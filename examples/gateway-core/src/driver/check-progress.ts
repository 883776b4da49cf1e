import { z } from "zod";
import { checkInput } from "../check-input.js";
import type { DriverProgress } from "./driver.js";

const count = z.custom<number>((value) => typeof value === "number" && value >= 0 && value < Infinity, {
  error: "expected a number, 0 or more",
});
/** As long as what steps are kept by takes names and labels: what it refuses itself is lost, each time that it is said. */
const name = z.string().min(1, "expected a text that is not empty").max(256);
const schema: z.ZodType<DriverProgress> = z.object({
  step: name,
  label: name,
  activeLabel: name.optional(),
  subject: z.string(),
  unit: z.enum(["bytes", "none"]),
  part: name.optional(),
  position: count.optional(),
  total: count.optional(),
  busySeconds: count.optional(),
  done: z.boolean().optional(),
  waiting: z.boolean().optional(),
});

/**
 * A report as its type says that it is: nothing else checks a driver's types where it is only bundled. A copy, which the
 * driver's later writes do not change.
 *
 * @throws InvalidInputError naming the field, what was expected there, and what was found
 */
export function checkProgress(report: unknown): DriverProgress {
  return checkInput(schema, report, "report");
}
