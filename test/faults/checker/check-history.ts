import { everyAnswerVisible } from "./answer-rules.js";
import {
  everyExpiryCleanedUp,
  noDeadlineExtended,
  noExpiryOverruled,
  noneExpiredEarly,
  noneRevived,
} from "./deadline-rules.js";
import type { SandboxHistory, Violation } from "./history.js";
import { everyStateOperable } from "./operable-rules.js";
import { noRecordLost, noWriteLost } from "./record-rules.js";
import { noLeaseBroken, noneStartedLate, noneStartedTwice, noStaleCredentialsTaken } from "./work-rules.js";

const RULES: readonly ((history: SandboxHistory) => readonly Violation[])[] = [
  noRecordLost,
  noWriteLost,
  noDeadlineExtended,
  noExpiryOverruled,
  noneExpiredEarly,
  noneRevived,
  noneStartedTwice,
  noneStartedLate,
  everyExpiryCleanedUp,
  everyAnswerVisible,
  noLeaseBroken,
  noStaleCredentialsTaken,
  everyStateOperable,
];

/** Everything in a sandbox's history that must not be. Empty when all promises were kept. Pure. */
export function checkHistory(history: SandboxHistory): Violation[] {
  return RULES.flatMap((rule) => rule(history));
}
