import { startRules } from "./start-rules.js";
import { stopRules } from "./stop-rules.js";
import { deleteRules } from "./delete-rules.js";
import type { GateDecision, GateInput, GateRule, Operation } from "./gate-rule.js";
import { checkInput, checkWord } from "../check-input.js";

/**
 * The three gates of a sandbox at one moment.
 *
 * @public
 */
export type AllowedOperations = Readonly<Record<Operation, GateDecision>>;

/**
 * What may be done with a sandbox now, each with the route to take or the reason against it.
 *
 * Pure. At least delete is always open, and from every phase that start refuses another operation leads to one that
 * it accepts. No route creates a second identity or workspace.
 *
 * @throws {@link SlipwayError} `INVALID_OPTION` for no record, no `now`, or a `by` that is neither word.
 *
 * @example
 * ```ts
 * import { allowedOperations } from "slipway/phase";
 *
 * const record = { phase: "Stopped", desired: "stopped", since: 0 } as const;
 * allowedOperations({ record, by: "user", now: Date.now() }).start; // => { allowed: true, route: "resume", rule: "start-stopped" }
 * ```
 *
 * @public
 */
export function allowedOperations(input: GateInput): AllowedOperations {
  checkInput(input);
  const by: unknown = input.by;
  if (by !== undefined) checkWord("by", by, "user", "automatic");
  return {
    start: gate(startRules, input),
    stop: gate(stopRules, input),
    delete: gate(deleteRules, input),
  };
}

function gate(rules: readonly GateRule[], input: GateInput): GateDecision {
  const rule = rules.find((candidate) => candidate.when(input)) as GateRule;
  return rule.route === null
    ? { allowed: false, reason: rule.reason ?? "Refused", message: refusal(rule, input), rule: rule.name }
    : { allowed: true, route: rule.route, rule: rule.name };
}

function refusal(rule: GateRule, { record }: GateInput): string {
  return `${rule.operation} is refused in phase ${record.phase}: ${rule.rationale}`;
}
