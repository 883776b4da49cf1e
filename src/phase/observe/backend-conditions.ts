import type { Condition, ConditionStatus } from "../../conditions/index.js";
import { instantOf } from "./instant.js";
import { integerOf, objectsOf, textOf, wordOf, type JsonObject } from "./json.js";

/** One condition of a backend's list, read for deciding. */
export interface BackendCondition {
  readonly status: "true" | "false" | "unknown";
  /** As it was spelled; `""` when absent. */
  readonly reason: string;
  /** In lower case. */
  readonly word: string;
  /** For people, as it was written; `null` when absent. */
  readonly message: string | null;
  /** Of an older generation than the object: about a specification that is no more. */
  readonly stale: boolean;
  /** It names a generation, and so does the object: whether it is about the present one is known. */
  readonly numbered: boolean;
  /** When it last changed, epoch milliseconds; `null` when it does not say. */
  readonly at: number | null;
}

/** What a list says on a type: a condition, nothing (`null`), or twins that disagree. */
export type ConditionFinding = BackendCondition | "contradiction" | null;

/**
 * The condition of a type in a backend's list.
 *
 * Twins are settled by generation, then by time, never by index; twins that tie and disagree are a contradiction. An
 * absent generation makes no claim. The letter case of types and statuses does not matter.
 */
export function findCondition(list: unknown, type: string, generation: number | null): ConditionFinding {
  let best: JsonObject | null = null;
  let tied = false;
  for (const candidate of objectsOf(list)) {
    if (wordOf(candidate["type"]) !== type) continue;
    if (best === null) {
      best = candidate;
      continue;
    }
    const order = compare(candidate, best);
    if (order > 0) {
      best = candidate;
      tied = false;
    } else if (order === 0 && !says(candidate, best)) tied = true;
  }
  if (best === null) return null;
  if (tied) return "contradiction";
  const reason = typeof best["reason"] === "string" ? best["reason"] : "";
  const seen = integerOf(best["observedGeneration"]);
  return {
    status: statusOf(best["status"]),
    reason,
    word: reason.toLowerCase(),
    message: textOf(best["message"]),
    stale: seen !== null && generation !== null && seen < generation,
    numbered: seen !== null && generation !== null,
    at: instantOf(best["lastTransitionTime"]),
  };
}

/** When the latest of a list's conditions changed, whatever it says; `null` when none tells. */
export function lastTransition(list: unknown): number | null {
  // No arguments of a call: a list of a hundred thousand would fill the stack.
  return objectsOf(list).reduce((latest, condition) => Math.max(latest, timeOf(condition)), 0) || null;
}

/** The finding where it is one condition about the present object. */
export function current(finding: ConditionFinding): BackendCondition | null {
  return finding === null || finding === "contradiction" || finding.stale ? null : finding;
}

/** Whether the list says on the type what is now and that it is so. */
export function isTrue(finding: ConditionFinding): boolean {
  return current(finding)?.status === "true";
}

function compare(a: JsonObject, b: JsonObject): number {
  const byGeneration =
    (integerOf(a["observedGeneration"]) ?? -1) - (integerOf(b["observedGeneration"]) ?? -1);
  return byGeneration !== 0 ? byGeneration : timeOf(a) - timeOf(b);
}

function timeOf(condition: JsonObject): number {
  return instantOf(condition["lastTransitionTime"]) ?? 0;
}

function says(a: JsonObject, b: JsonObject): boolean {
  return statusOf(a["status"]) === statusOf(b["status"]) && wordOf(a["reason"]) === wordOf(b["reason"]);
}

function statusOf(value: unknown): BackendCondition["status"] {
  const word = value === true ? "true" : value === false ? "false" : wordOf(value);
  return word === "true" || word === "false" ? word : "unknown";
}

const SPELLED: Readonly<Record<BackendCondition["status"], ConditionStatus>> = {
  true: "True",
  false: "False",
  unknown: "Unknown",
};

/** A backend's list in our shape, for diagnosis. Entries without a type are left out. */
export function conditionsOf(list: unknown): readonly Condition[] {
  const conditions: Condition[] = [];
  for (const entry of objectsOf(list)) {
    const type = textOf(entry["type"]);
    if (type === null) continue;
    conditions.push({
      type,
      status: SPELLED[statusOf(entry["status"])],
      reason: textOf(entry["reason"]) ?? "",
      message: textOf(entry["message"]) ?? "",
      lastTransitionTime: textOf(entry["lastTransitionTime"]) ?? "",
      ...generationOf(entry),
    });
  }
  return conditions;
}

function generationOf(entry: JsonObject): { readonly observedGeneration?: number } {
  const observedGeneration = integerOf(entry["observedGeneration"]);
  return observedGeneration === null ? {} : { observedGeneration };
}
