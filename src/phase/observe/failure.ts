import type { ObservationDraft } from "../observation.js";

/** Says what is wrong, and whether waiting can help; a reason of `null` says that nothing is. */
export function fail(
  draft: ObservationDraft,
  reason: string | null,
  failureClass: ObservationDraft["failureClass"] = "terminal",
): ObservationDraft {
  draft.failureReason = reason;
  draft.failureClass = reason === null ? null : failureClass;
  return draft;
}
