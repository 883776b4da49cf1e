/**
 * Whether a condition holds. `Unknown` is what an absent condition reads as.
 *
 * @public
 */
export type ConditionStatus = "True" | "False" | "Unknown";

/**
 * One observed aspect of a sandbox, in the shape that Kubernetes gives conditions, with additive fields.
 *
 * Fields that this version does not know (a newer peer wrote them) are kept by every function of this room, although
 * the type does not list them.
 *
 * @public
 */
export interface Condition {
  /** Key of the condition in its list, for instance `Ready`; 1 to 316 characters. */
  readonly type: string;
  /** Whether the condition holds. */
  readonly status: ConditionStatus;
  /** Stable, machine-readable word for the current status; 1 to 1024 characters, a letter first. */
  readonly reason: string;
  /** For people: never parse it. At most 32768 characters. */
  readonly message: string;
  /** RFC 3339, whole seconds: when `status` last changed. Empty where a peer did not say. */
  readonly lastTransitionTime: string;
  /** Generation the writer had seen. Absent makes no claim. */
  readonly observedGeneration?: number | undefined;
  /** A more specific finding behind `reason`, added without changing it. */
  readonly cause?: ConditionCause | undefined;
  /** What this reason is a case of, nearest first, stated by the writer for this occurrence. */
  readonly generalReasons?: readonly string[] | undefined;
  /** What the writer stated, where the reason was generalised for a reader of an older contract. */
  readonly convertedFrom?: ConversionOrigin | undefined;
  /** What a peer said in fields of this list that could not be read, as it was sent; filled by `parseConditions`. */
  readonly unread?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * A finding that explains a condition further without taking the place of its reason.
 *
 * @public
 */
export interface ConditionCause {
  /** Stable, machine-readable word for the finding. */
  readonly reason: string;
  /** For people: never parse it. At most 32768 characters. */
  readonly message: string;
}

/**
 * The fields that a conversion replaces, as the writer stated them: the way back.
 *
 * @public
 */
export interface ConversionOrigin {
  /** The reason as stated. */
  readonly reason: string;
  /** The general reasons as stated, nearest first. */
  readonly generalReasons: readonly string[];
  /** The cause as stated. Absent: there was none. */
  readonly cause?: ConditionCause | undefined;
  /** An older statement that no longer spoke of `reason`, kept for whoever wrote it. */
  readonly convertedFrom?: ConversionOrigin | undefined;
}

/**
 * A condition as a writer states it: {@link setCondition} supplies the transition time where the status changed.
 *
 * @public
 */
export type ConditionUpdate = Omit<Condition, "lastTransitionTime"> & {
  /** RFC 3339. Default: the instant of the call, where the status changes. */
  readonly lastTransitionTime?: string | undefined;
};
