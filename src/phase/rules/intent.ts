import type { RuleContext } from "./rule.js";

export function isStopIntent(context: RuleContext): boolean {
  return context.record.desired === "stopped";
}
