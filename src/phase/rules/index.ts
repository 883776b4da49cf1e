import { deleting } from "./deleting.js";
import { emptyBackend } from "./empty-backend.js";
import { finished } from "./finished.js";
import { goneWithoutDeleteIntent } from "./gone-without-delete-intent.js";
import { noObservation } from "./no-observation.js";
import { notThereYet } from "./not-there-yet.js";
import { ready } from "./ready.js";
import { recordedResult } from "./recorded-result.js";
import { stopIntent } from "./stop-intent.js";
import { stoppedBySomebodyElse } from "./stopped-by-somebody-else.js";
import { unreadable } from "./unreadable.js";
import type { PhaseRule } from "./rule.js";

/**
 * The rules of {@link derivePhase}, in order: the first whose condition holds decides.
 *
 * The order is part of the contract. Identity is settled before the rules run: an observer drops evidence of another
 * run and marks what is left as `stale`.
 *
 * @example
 * ```ts
 * import { phaseRules } from "slipway/phase";
 *
 * phaseRules[0]?.name; // => "no-observation"
 * ```
 *
 * @public
 */
export const phaseRules: readonly PhaseRule[] = Object.freeze(
  [
    noObservation,
    deleting,
    goneWithoutDeleteIntent,
    recordedResult,
    stopIntent,
    unreadable,
    finished,
    stoppedBySomebodyElse,
    emptyBackend,
    ready,
    notThereYet,
  ].flat(),
);
