import type { Phase } from "../phase.js";
import {
  IMAGE_PREPARATION_TIMED_OUT,
  PROVISIONING_TIMED_OUT,
  published,
  type PublishedReason,
} from "../reasons.js";
import type { RuleContext, RuleOutcome } from "./rule.js";

const NOTHING_NEW: RuleOutcome["conditions"] = Object.freeze([]);

/** The record as it stands: an outcome that keeps phase, reason, message and conditions. */
export function hold({ record }: RuleContext, fallback: string): RuleOutcome {
  return {
    phase: record.phase,
    reason: record.reason ?? fallback,
    message: record.message ?? "",
    conditions: NOTHING_NEW,
  };
}

export function to(phase: Phase, said: string | PublishedReason, message: string): RuleOutcome {
  const status = phase === "Ready" ? "True" : phase === "Unknown" ? "Unknown" : "False";
  const { reason, cause } = typeof said === "string" ? { reason: said, cause: undefined } : said;
  return { phase, reason, message, conditions: [{ type: "Ready", status, reason, message, cause }] };
}

/** An outcome that is always the same is made once. */
export function always(phase: Phase, reason: string, message: string): () => RuleOutcome {
  const outcome = Object.freeze(to(phase, reason, message));
  return () => outcome;
}

export function failure(context: RuleContext, fallback: string): RuleOutcome {
  const { observation } = context;
  return to(
    "Error",
    published(observation, fallback, "Error"),
    observation.message ?? "The backend reports a failure that waiting cannot mend.",
  );
}

export function timedOut({ record }: RuleContext): RuleOutcome {
  return to(
    "Error",
    record.deadline?.timeoutReason ??
      (record.deadline?.lastPhase === false ? IMAGE_PREPARATION_TIMED_OUT : PROVISIONING_TIMED_OUT),
    "The deadline of this attempt is over.",
  );
}
