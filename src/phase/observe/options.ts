import { absent, unobserved, type ObservationDraft } from "../observation.js";
import type { ExpectedRun } from "../record.js";
import { instantOf } from "./instant.js";
import { member } from "./json.js";
import { isNotFound } from "./lookup-error.js";

/**
 * What every observer takes beside the backend's object.
 *
 * @public
 */
export interface ObserveOptions {
  /** The run that is expected: evidence about another one is dropped and the rest marked as stale. */
  readonly run?: ExpectedRun | null | undefined;
  /** When the object was fetched, epoch milliseconds. Without it nothing is judged by its age. */
  readonly observedAt?: number | undefined;
  /** Label or annotation that carries the run's instance id. Default `slipway.dev/instance-id`. */
  readonly instanceKey?: string | undefined;
}

const INSTANCE_KEY = "slipway.dev/instance-id";

export function observedAtOf({ observedAt }: ObserveOptions): number | null {
  return typeof observedAt === "number" && Number.isFinite(observedAt) ? observedAt : null;
}

export function instanceKeyOf({ instanceKey }: ObserveOptions): string {
  return instanceKey ?? INSTANCE_KEY;
}

/** What a look-up without an object says: a definite not-found is absence, anything else is nothing learnt. */
export function withoutObject(error: unknown, options: ObserveOptions): ObservationDraft {
  const observedAt = observedAtOf(options);
  return isNotFound(error) ? absent(observedAt) : unobserved(observedAt);
}

/** Whether what came in place of a Kubernetes object is the API's refusal. */
export function isRefusal(value: unknown): boolean {
  return member(value, "kind") === "Status";
}

/** Whether the caller's last accepted wish is that it does not run: an end is then our own stop at work. */
export function isOwnStop({ run }: ObserveOptions): boolean {
  return run?.desired === "stopped" || run?.desired === "deleted";
}

/**
 * Whether an end at this instant belongs to a run before the one that is expected.
 *
 * @param precisionMs - What the backend rounds its timestamps to.
 */
export function isEarlierRun(
  { run }: ObserveOptions,
  finishedAt: number | null,
  precisionMs: number,
): boolean {
  if (!run || finishedAt === null || (run.desired ?? "running") !== "running") return false;
  const previous = instantOf(run.previousFinishedAt);
  if (previous !== null && finishedAt <= previous) return true;
  const requested = instantOf(run.startRequestedAt);
  return requested !== null && finishedAt < Math.floor(requested / precisionMs) * precisionMs;
}

/** Whether the object says that it is of another run than the one expected. Silence on either side is no contradiction. */
export function isForeignInstance({ run }: ObserveOptions, instanceId: string | null): boolean {
  const expected = run?.instanceId ?? null;
  return expected !== null && instanceId !== null && expected !== instanceId;
}

/** Whether a guess by times must yield: the object names the run that is expected, or that run is past its start. */
export function isCertainRun({ run }: ObserveOptions, instanceId: string | null): boolean {
  return run?.confirmed === true || (instanceId !== null && instanceId === (run?.instanceId ?? null));
}

/** Takes the end of another run out of an observation: what is left is known to be behind. */
export function dropOtherRun(draft: ObservationDraft): ObservationDraft {
  draft.completed = false;
  draft.exitCode = null;
  draft.endedBy = "unknown";
  draft.finishedAt = null;
  draft.failureReason = null;
  draft.failureClass = null;
  draft.stale = true;
  return draft;
}
