import { sleep } from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import type { ExpectedRun, Observation } from "slipway/phase";

/** How long after an end the engine may still learn that it was for lack of memory. */
const SETTLE_MS = 1000;
const AGAIN_MS = 50;
const KILLED = 137;

/**
 * Looks again at a kill that nobody asked for while its cause may still become known. An engine hears of the end and of
 * the lack of memory by two messages of its runtime, in either order (containerd #12714), and an end that was recorded as
 * a kill stays one. Where the message is lost altogether (containerd #8893) the kill is told when the time is over.
 *
 * @param look - What there is now, with the end on the clock given.
 */
export async function settledEnd(
  look: () => Promise<Observation>,
  run: ExpectedRun,
  clock: Clock,
  signal: AbortSignal,
): Promise<Observation> {
  const begun = clock.now();
  let seen = await look();
  while (mayBecomeClear(seen, run, clock.now(), begun)) {
    await sleep(clock, AGAIN_MS, signal);
    const again = await look();
    // Removed meanwhile, or started again: what was seen of the end is the last that can be.
    if (again.exitCode !== KILLED) return seen;
    seen = again;
  }
  return seen;
}

function mayBecomeClear(seen: Observation, run: ExpectedRun, now: number, begun: number): boolean {
  if ((run.desired ?? "running") !== "running") return false;
  if (seen.failureReason !== "Killed" || seen.exitCode !== KILLED) return false;
  const endedAt = seen.finishedAt ?? Number.NEGATIVE_INFINITY;
  // An end in the future, by a clock that is known badly, is waited for no longer than one of this moment.
  return now - Math.min(endedAt, begun) < SETTLE_MS;
}
