import { observePod, observeSandboxResource, type ExpectedRun, type Observation } from "slipway/phase";
import { textAt, type Plain } from "../api/plain.js";
import { BOOTSTRAP_KEY, INSTANCE_KEY } from "../resource/names.js";
import { controllerUid, instanceOf, isOwnedBy } from "./owned-pods.js";

/** What was read of one sandbox. `pods: null`: they were not asked for. */
export interface Seen {
  readonly sandbox: Plain | null;
  readonly pods: readonly Plain[] | null;
  readonly error?: unknown;
  /** When reading began, on the gateway's clock. */
  readonly observedAt: number;
  /** How far the cluster's clock is ahead of the gateway's. */
  readonly skewMs: number;
}

/**
 * The facts in what was read, with the library's observer. Two clocks meet here: the cluster dates its objects by its
 * own, so ages are judged on that one, and the result is dated by the gateway's.
 */
export function observeSeen(seen: Seen, run: ExpectedRun | undefined): Observation {
  const { sandbox, pods, error, observedAt, skewMs } = seen;
  const observation = observeSandboxResource(
    { sandbox, pods, error },
    {
      observedAt: observedAt + skewMs,
      instanceKey: INSTANCE_KEY,
      bootstrapKey: isOtherMark(sandbox, run) ? NO_KEY : BOOTSTRAP_KEY,
      run: run === undefined ? undefined : onClusterClock(run, seen),
    },
  );
  const message =
    observation.completed === true ? (lastWords(seen) ?? observation.message) : observation.message;
  return { ...observation, message, observedAt };
}

const LONGEST_WORDS = 600;

/** Why its container ended, of the pod that has: the controller's own sentence only says that it did. */
function lastWords({ sandbox, pods }: Seen): string | null {
  const uid = textAt(sandbox, "metadata", "uid") ?? "";
  const run = instanceOf(sandbox ?? {});
  const pod = pods?.find((each) => isOwnedBy(each, uid) && instanceOf(each) === run);
  const said = pod === undefined ? null : observePod({ pod }).message;
  return said?.slice(-LONGEST_WORDS) ?? null;
}

const NO_KEY = "";

/** A mark of another run's start says nothing about this one. */
function isOtherMark(sandbox: Plain | null, run: ExpectedRun | undefined): boolean {
  const mark = textAt(sandbox, "metadata", "annotations", BOOTSTRAP_KEY);
  const expected = run?.instanceId ?? null;
  return mark !== null && expected !== null && mark !== expected;
}

/**
 * Where every pod says whose run it is, that decides, and no clock does: a node's clock may differ from both. Else the
 * gateway's instants are taken to the cluster's clock.
 */
function onClusterClock(run: ExpectedRun, { sandbox, pods, skewMs }: Seen): ExpectedRun {
  const uid = textAt(sandbox, "metadata", "uid");
  const owned = (pods ?? []).filter((pod) => controllerUid(pod) === uid);
  if (owned.every((pod) => instanceOf(pod) !== null)) {
    return { ...run, startRequestedAt: null, previousFinishedAt: null };
  }
  const { startRequestedAt } = run;
  return typeof startRequestedAt === "number" ? { ...run, startRequestedAt: startRequestedAt + skewMs } : run;
}
