import type { ObservationDraft } from "../observation.js";
import { instantOf } from "./instant.js";
import { at, integerOf, member, objectOf, objectsOf, textOf, wordOf, type JsonObject } from "./json.js";
import type { ObserveOptions } from "./options.js";
import { podFacts } from "./pod.js";

/** What the listed pods say of one sandbox. */
export interface SandboxPods {
  /** Whether the pods were listed at all, and in full. */
  readonly listed: "all" | "part" | "no";
  /** The facts of the pod that is this sandbox's workload. */
  readonly pod: ObservationDraft | null;
  /** More than one live pod belongs to the sandbox. */
  readonly conflict: boolean;
}

/** Picks the sandbox's own pod out of a list by controller identity: names, labels and annotations are hints only. */
export function sandboxPods(sandbox: JsonObject, pods: unknown, options: ObserveOptions): SandboxPods {
  const listed = listing(pods);
  if (listed === "no") return { listed, pod: null, conflict: false };
  const items = Array.isArray(pods) ? pods : member(pods, "items");
  const owned = objectsOf(items)
    .filter((pod) => isOwned(pod, sandbox))
    .map((pod) => ({ pod, facts: podFacts(pod, options) }))
    .sort((a, b) => rank(b.facts) - rank(a.facts) || age(b.pod) - age(a.pod) || byName(a.pod, b.pod));
  const live = owned.filter(({ facts }) => rank(facts) === LIVE);
  return { listed, pod: owned[0]?.facts ?? null, conflict: live.length > 1 };
}

/** A list with a continue token is a page, not the list; `null` is a list nobody has; a Status is a refusal. */
function listing(pods: unknown): SandboxPods["listed"] {
  if (Array.isArray(pods)) return "all";
  const list = objectOf(pods);
  if (list === null || !isPodList(list) || !("items" in list)) return "no";
  const items = list["items"];
  if (items !== null && !Array.isArray(items)) return "no";
  const remaining = integerOf(at(list, "metadata", "remainingItemCount")) ?? 0;
  return textOf(at(list, "metadata", "continue")) === null && remaining <= 0 ? "all" : "part";
}

/** A list of anything else proves nothing about pods, and an empty one is no proof that there is none. */
function isPodList({ kind }: JsonObject): boolean {
  return kind === undefined || kind === null || kind === "" || kind === "PodList" || kind === "List";
}

function isOwned(pod: JsonObject, sandbox: JsonObject): boolean {
  const uid = textOf(at(sandbox, "metadata", "uid"));
  const name = textOf(at(sandbox, "metadata", "name"));
  return objectsOf(at(pod, "metadata", "ownerReferences")).some((owner) => {
    if (owner["controller"] !== true) return false;
    if (uid !== null) return owner["uid"] === uid;
    return name !== null && owner["name"] === name && wordOf(owner["kind"]) === "sandbox";
  });
}

const LIVE = 2;

/** A live pod beats one that goes away, which beats one that has ended: the predecessor stands beside its successor. */
function rank(facts: ObservationDraft): number {
  if (facts.terminating === true) return 1;
  return facts.completed === true || facts.stale ? 0 : LIVE;
}

function age(pod: JsonObject): number {
  return instantOf(at(pod, "metadata", "creationTimestamp")) ?? 0;
}

function byName(a: JsonObject, b: JsonObject): number {
  const left = `${textOf(at(a, "metadata", "name")) ?? ""}/${textOf(at(a, "metadata", "uid")) ?? ""}`;
  const right = `${textOf(at(b, "metadata", "name")) ?? ""}/${textOf(at(b, "metadata", "uid")) ?? ""}`;
  return left < right ? -1 : left > right ? 1 : 0;
}
