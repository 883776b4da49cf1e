import type { JsonObject } from "@slipway-examples/gateway-core";
import { recordsOf, textAt } from "../api/plain.js";

/**
 * What people are told of a record in one line: its message, and while it comes up where its bootstrap stands, which is
 * what they would look for next.
 */
export function shownMessage(value: JsonObject): string {
  const message = textAt(value, "message") ?? "";
  const phase = textAt(value, "phase");
  if (phase !== "Provisioning" && phase !== "Starting") return message;
  const bootstrap = recordsOf(value["conditions"]).find(({ type }) => type === "Bootstrapped");
  const standing = textAt(bootstrap, "status") === "True" ? null : textAt(bootstrap, "message");
  return [message, standing].filter((part) => part !== null && part !== "").join(": ");
}
