/**
 * Whether a condition holds. `Unknown` is what an absent condition reads as.
 *
 * @public
 */
export type ConditionStatus = "True" | "False" | "Unknown";

/**
 * One observed aspect of a sandbox, in the shape that Kubernetes gives conditions, with two additive fields.
 *
 * @public
 */
export interface Condition {
  /** Key of the condition in its list, for instance `Ready`. */
  readonly type: string;
  readonly status: ConditionStatus;
  /** Stable, machine-readable word for the current status. */
  readonly reason: string;
  /** For people: never parse it. */
  readonly message: string;
  /** RFC 3339, whole seconds: when `status` last changed. */
  readonly lastTransitionTime: string;
  /** Generation the writer had seen. Absent makes no claim. */
  readonly observedGeneration?: number | undefined;
  /** A more specific finding behind `reason`, added without changing it. */
  readonly cause?: ConditionCause | undefined;
  /** What this reason is a case of, nearest first, stated by the writer for this occurrence. */
  readonly generalReasons?: readonly string[] | undefined;
}

/**
 * A finding that explains a condition further without taking the place of its reason.
 *
 * @public
 */
export interface ConditionCause {
  readonly reason: string;
  readonly message: string;
}

/**
 * A condition as a writer states it: {@link setCondition} supplies the transition time where the status changed.
 *
 * @public
 */
export type ConditionUpdate = Omit<Condition, "lastTransitionTime"> & {
  readonly lastTransitionTime?: string | undefined;
};
