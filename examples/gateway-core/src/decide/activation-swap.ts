import { applyActivation, type ActivationEntry } from "slipway/retry";
import type { ActivationSwap } from "../gateway/activations.js";
import type { SandboxRecord } from "../record/record.js";

/** What to do with a swap: try it, say that the entry is another one by now, or refuse it. */
export type SwapJudgement = "try" | "conflict" | { readonly code: string; readonly message: string };

/**
 * What a supervisor may write into the ledger. It was authenticated as the one of the record's attempt and run before.
 *
 * It may claim an instance that was admitted and that nobody claimed, say that what it claimed was started, and give a
 * claim back. To stop or complete an activation is for the gateway. Only a swap of the very entry that was looked at is
 * tried, so that what is written is what was judged.
 */
export function judgeSwap(
  record: SandboxRecord,
  run: number,
  found: ActivationEntry | null,
  { expectedVersion, next }: ActivationSwap,
): SwapJudgement {
  const isCurrent = (found?.version ?? null) === expectedVersion;
  if (next === null) {
    if (!isCurrent) return "conflict";
    const mayRelease = found === null || found.state === "activating";
    return mayRelease ? "try" : refused("not-allowed", `what is ${found.state} cannot be given back`);
  }
  if (next.claim === null) return refused("not-allowed", "an entry of a supervisor carries its claim");
  if (next.version !== versionAfter(expectedVersion, next.claim))
    return refused(
      "not-allowed",
      "an entry's version is its claim's own, and grows by one with every change",
    );
  switch (next.state) {
    case "activating": {
      if (expectedVersion !== null)
        return refused("not-allowed", "only an instance without an entry is claimed");
      // The record first: what it refuses is refused for good, where a conflict only asks for another look.
      const judged = judgeClaim(record, run);
      return judged === "try" && !isCurrent ? "conflict" : judged;
    }
    case "active":
      if (expectedVersion === null) return refused("not-allowed", "only what was claimed can be started");
      return isCurrent ? judgeStarted(found, next) : "conflict";
    default:
      return refused("not-allowed", `${next.state} is the gateway's to write`);
  }
}

/** The first version follows from the claim: no number that fits the entry of another one, or leaves no room above. */
function versionAfter(expectedVersion: number | null, claim: string): number | null {
  if (expectedVersion !== null) return expectedVersion + 1;
  const first = applyActivation(null, { type: "claim", claim }, 0);
  return first.applied ? first.next.version : null;
}

/** A stop, an expiry or another run that came first is in the record, also where the ledger does not show it yet. */
export function judgeClaim(
  { activatedRun, deadline, desired, phase }: SandboxRecord,
  run: number,
): Exclude<SwapJudgement, "conflict"> {
  if (deadline?.status === "expired") return refused("expired", "the attempt expired");
  if (desired !== "running" || deadline?.status !== "active")
    return refused("settled", `the sandbox is ${phase}`);
  return activatedRun === run ? "try" : refused("not-activated", "this run was not admitted");
}

function judgeStarted(found: ActivationEntry | null, next: ActivationEntry): SwapJudgement {
  if (found?.state !== "activating") return refused("not-allowed", "only what was claimed can be started");
  return found.claim === next.claim ? "try" : refused("not-allowed", "the claim is another's");
}

function refused(code: string, message: string): Exclude<SwapJudgement, string> {
  return { code, message };
}
