import type { ActivationEntry } from "slipway/retry";
import type { ActivationSwap } from "../gateway/activations.js";
import type { SandboxRecord } from "../record/record.js";

/** `null` when the swap may be tried; otherwise why it may not. */
export type SwapRefusal = { readonly code: string; readonly message: string } | null;

/**
 * What a supervisor may write into the ledger. It was authenticated as the one of the record's attempt and run before.
 *
 * It may claim an instance that was admitted and that nobody claimed, say that what it claimed was started, and give a
 * claim back. To stop or complete an activation is for the gateway. Whether the entry is still the one that it read is
 * for the compare-and-swap to find out.
 */
export function judgeSwap(
  record: SandboxRecord,
  run: number,
  found: ActivationEntry | null,
  { expectedVersion, next }: ActivationSwap,
): SwapRefusal {
  if (next === null) {
    const mayRelease = found === null || found.version !== expectedVersion || found.state === "activating";
    return mayRelease ? null : refused("not-allowed", `what is ${found.state} cannot be given back`);
  }
  if (next.version !== (expectedVersion ?? 0) + 1)
    return refused("not-allowed", "an entry's version grows by one with every change");
  if (next.claim === null) return refused("not-allowed", "an entry of a supervisor carries its claim");
  switch (next.state) {
    case "activating":
      if (expectedVersion !== null)
        return refused("not-allowed", "only an instance without an entry is claimed");
      return mayClaim(record, run);
    case "active":
      return mayStart(found, expectedVersion, next);
    default:
      return refused("not-allowed", `${next.state} is the gateway's to write`);
  }
}

/** A stop, an expiry or another run that came first is in the record, also where the ledger does not show it yet. */
function mayClaim({ activatedRun, deadline, desired, phase }: SandboxRecord, run: number): SwapRefusal {
  if (deadline?.status === "expired") return refused("expired", "the attempt expired");
  if (desired !== "running" || deadline?.status !== "active")
    return refused("settled", `the sandbox is ${phase}`);
  return activatedRun === run ? null : refused("not-activated", "this run was not admitted");
}

function mayStart(
  found: ActivationEntry | null,
  expectedVersion: number | null,
  next: ActivationEntry,
): SwapRefusal {
  // Another entry by now: the swap fails, and the next look shows why.
  if (found?.version !== expectedVersion) return null;
  if (found?.state !== "activating") return refused("not-allowed", "only what was claimed can be started");
  return found.claim === next.claim ? null : refused("not-allowed", "the claim is another's");
}

function refused(code: string, message: string): SwapRefusal {
  return { code, message };
}
