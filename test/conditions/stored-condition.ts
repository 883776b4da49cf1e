import type { Condition } from "../../src/conditions/index.js";

export const time = "2026-01-01T12:00:00Z";

export function condition(fields: Partial<Condition> = {}): Condition {
  return {
    type: "Ready",
    status: "False",
    reason: "Starting",
    message: "",
    lastTransitionTime: time,
    ...fields,
  };
}
