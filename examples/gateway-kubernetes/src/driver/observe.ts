import { tailOf } from "@slipway-examples/gateway-core";
import { observePod, observeSandboxResource, type ExpectedRun, type Observation } from "slipway/phase";
import { memberOf, nameOf, recordsOf, textAt, type Plain } from "../api/plain.js";
import { BOOTSTRAP_KEY, INSTANCE_KEY } from "../resource/names.js";
import { MAIN_CONTAINER } from "../resource/pod-template.js";
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
  return { ...observation, message: wordsOf(observation, seen), observedAt };
}

const LONGEST_WORDS = 600;

/** What is worth telling: how a run ended, or where one is that may yet come up. */
function wordsOf({ completed, running, failureClass, message }: Observation, seen: Seen): string | null {
  const pod = ownPod(seen);
  if (pod === undefined) return message;
  if (completed === true) return lastWords(pod) ?? message;
  if (running !== true || failureClass === "terminal") return message;
  return message === null ? whereabouts(pod) : `${whereabouts(pod)} (${message})`;
}

function ownPod({ sandbox, pods }: Seen): Plain | undefined {
  const uid = textAt(sandbox, "metadata", "uid") ?? "";
  const run = instanceOf(sandbox ?? {});
  return pods?.find((each) => isOwnedBy(each, uid) && instanceOf(each) === run);
}

/** Why its container ended, of the pod that has: the controller's own sentence only says that it did. */
function lastWords(pod: Plain): string | null {
  const { message } = observePod({ pod });
  return message === null ? null : tailOf(message, LONGEST_WORDS);
}

function whereabouts(pod: Plain): string {
  const main = recordsOf(memberOf(pod, "status", "containerStatuses")).find(
    ({ name }) => name === MAIN_CONTAINER,
  );
  const since = textAt(main, "state", "running", "startedAt");
  const node = textAt(pod, "spec", "nodeName");
  return `Pod ${nameOf(pod)} runs${node === null ? "" : ` on ${node}`}${since === null ? "" : ` since ${since}`}`;
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
