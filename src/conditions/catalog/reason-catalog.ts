/**
 * What a reason says about the future: `waiting` (work goes on), `transient` (a fault that may pass by itself),
 * `terminal` (nothing changes until somebody acts), `informational` (a fact that is no fault).
 *
 * @public
 */
export type ReasonClass = "waiting" | "transient" | "terminal" | "informational";

/**
 * What `True` means for a condition type: good (`positive`), bad (`negative`), or neither.
 *
 * @public
 */
export type ConditionPolarity = "positive" | "negative" | "neutral";

/**
 * When a condition type is in the list: `always`, `while-true` (absent otherwise), or `once-reached` (from then on).
 *
 * @public
 */
export type ConditionPresence = "always" | "while-true" | "once-reached";

/**
 * A condition type of a catalog.
 *
 * @public
 */
export interface ConditionTypeEntry {
  /** What `True` means. */
  readonly polarity: ConditionPolarity;
  /** When the type is in the list. */
  readonly presence: ConditionPresence;
  /** What the type is about, one sentence. */
  readonly summary: string;
}

/**
 * Words of a backend that mean a reason.
 *
 * @public
 */
export interface ReasonSource {
  /** The backend that prints the words, for instance `kubernetes`. */
  readonly backend: string;
  /** The words as the backend prints them; compared without letter case. */
  readonly raw: readonly string[];
  /** Versions of the backend that print them, as far as known. */
  readonly versions?: string | undefined;
}

/**
 * A reason of a catalog.
 *
 * @public
 */
export interface ReasonEntry {
  /** The condition types it may sit on. */
  readonly types: readonly string[];
  /** What it says about the future. */
  readonly class: ReasonClass;
  /** The phases it accompanies; absent means any. */
  readonly phases?: readonly string[] | undefined;
  /** First contract that knows it. Absent means 1. */
  readonly since?: number | undefined;
  /** First contract that advises against it. It stays known. */
  readonly deprecatedIn?: number | undefined;
  /** The reason to use instead of a deprecated one. */
  readonly replacedBy?: string | undefined;
  /** Reasons of which this is always a case, unlike `generalReasons`, which hold for one occurrence. */
  readonly refines?: readonly string[] | undefined;
  /** Words of backends that mean it. Absent: none is known. */
  readonly sources?: readonly ReasonSource[] | undefined;
  /** What it means, one sentence. */
  readonly summary: string;
  /** What the operator should do about it. Absent means nothing. */
  readonly action?: string | undefined;
}

/**
 * A name that was a reason once. It stays reserved, so that it never comes back with another meaning.
 *
 * @public
 */
export interface RetiredReason {
  /** First contract that no longer knows it. */
  readonly retiredIn: number;
  /** The class that it had, for the readers that still know it. Absent counts as `terminal`: the careful reading. */
  readonly class?: ReasonClass | undefined;
  /** The reason to use instead. Absent: there is none. */
  readonly replacedBy?: string | undefined;
}

/**
 * What is published where: in this situation this reason is written on this condition type.
 *
 * @public
 */
export interface ReasonEmission {
  /** What was being done, for instance `prepare`. */
  readonly operation: string;
  /** What was found, for instance `isolation-backend-mismatch`. */
  readonly cause: string;
  /** The condition type it is written on. */
  readonly type: string;
  /** The reason that is written. */
  readonly reason: string;
  /** What the writer states the reason to be a case of, nearest first. */
  readonly generalReasons?: readonly string[] | undefined;
  /**
   * The contract in which this emission came to be; it replaces the one of an older contract. Absent means 1. A writer
   * stores one condition, the newest: readers of older contracts see what `convertConditions` makes of it, so the
   * older emission is history and hides nothing.
   */
  readonly since?: number | undefined;
}

/**
 * The reasons that a project publishes, as plain JSON: what `defineReasonCatalog` takes, checks and freezes.
 *
 * @public
 */
export interface ReasonCatalog<Name extends string = string, Type extends string = string> {
  /** Name of the catalog, for messages and lock files. */
  readonly name: string;
  /** The newest contract, a positive integer that grows by one with every breaking change. */
  readonly contract: number;
  /** The condition types, by name. */
  readonly types: Readonly<Record<Type, ConditionTypeEntry>>;
  /** The reasons that are in use, by name. */
  readonly reasons: Readonly<Record<Name, ReasonEntry>>;
  /** Which reason is written where. */
  readonly emits: readonly ReasonEmission[];
  /** Names that were reasons once. Absent: none. */
  readonly retired?: Readonly<Record<string, RetiredReason>> | undefined;
}

/**
 * The union of the reasons of a catalog.
 *
 * @example
 * ```ts
 * import type { ReasonOf, sandboxReasons } from "slipway/conditions";
 *
 * const reason: ReasonOf<typeof sandboxReasons> = "ImagePreparationTimedOut";
 * ```
 *
 * @public
 */
export type ReasonOf<Catalog> = Catalog extends {
  /** The reasons, by name. */
  readonly reasons: infer Reasons;
}
  ? Extract<keyof Reasons, string>
  : never;
