import { checkCatalog, invalidCatalog } from "./check-catalog.js";
import { frozen } from "./frozen.js";
import type {
  ConditionTypeEntry,
  ReasonCatalog,
  ReasonEmission,
  ReasonEntry,
  RetiredReason,
} from "./reason-catalog.js";

/**
 * What {@link defineReasonCatalog} takes: a {@link ReasonCatalog} whose references are checked by the compiler.
 *
 * @public
 */
export interface ReasonCatalogDefinition<Type extends string, Name extends string, Retired extends string> {
  /** See {@link ReasonCatalog.name}. */
  readonly name: string;
  /** See {@link ReasonCatalog.contract}. */
  readonly contract: number;
  /** See {@link ReasonCatalog.types}. */
  readonly types: Readonly<Record<Type, ConditionTypeEntry>>;
  /** See {@link ReasonCatalog.reasons}. */
  readonly reasons: Readonly<Record<Name, ReasonDefinition<NoInfer<Type>, NoInfer<Name>>>>;
  /** See {@link ReasonCatalog.emits}. Default: none. */
  readonly emits?:
    | readonly EmissionDefinition<NoInfer<Type>, NoInfer<Name>, NoInfer<Name | Retired>>[]
    | undefined;
  /** See {@link ReasonCatalog.retired}. Default: none. */
  readonly retired?: Readonly<Record<Retired, RetiredReason>> | undefined;
}

/**
 * A {@link ReasonEntry} whose types and other reasons are names of its own catalog.
 *
 * @public
 */
export interface ReasonDefinition<Type extends string, Name extends string> extends ReasonEntry {
  /** See {@link ReasonEntry.types}. */
  readonly types: readonly Type[];
  /** See {@link ReasonEntry.replacedBy}. */
  readonly replacedBy?: Name | undefined;
  /** See {@link ReasonEntry.refines}. */
  readonly refines?: readonly Name[] | undefined;
}

/**
 * A {@link ReasonEmission} whose type and reasons are names of its own catalog.
 *
 * @public
 */
export interface EmissionDefinition<Type extends string, Name extends string, General extends string>
  extends ReasonEmission {
  /** See `ReasonEmission.type`. */
  readonly type: Type;
  /** See {@link ReasonEmission.reason}. */
  readonly reason: Name;
  /** See {@link ReasonEmission.generalReasons}. */
  readonly generalReasons?: readonly General[] | undefined;
}

/**
 * Checks a catalog and freezes a copy of it. The union of its reasons comes out of the definition: `ReasonOf`.
 *
 * The result is plain JSON, so a lock file and the command line hold the same thing.
 *
 * @throws SlipwayError `INVALID_CATALOG` - naming the field: a name that Kubernetes would refuse, two names that
 * differ by case only, a retired name in use again, a reference that leads nowhere or in a circle, a general reason
 * that would turn a non-terminal reason terminal, a contract beyond the catalog's.
 *
 * @example
 * ```ts
 * import { defineReasonCatalog } from "slipway/conditions";
 *
 * const reasons = defineReasonCatalog({
 *   name: "builds",
 *   contract: 1,
 *   types: { Ready: { polarity: "positive", presence: "always", summary: "The build can be used." } },
 *   reasons: { QuotaExceeded: { types: ["Ready"], class: "transient", summary: "No build slot is free." } },
 *   emits: [{ operation: "build", cause: "no-slot", type: "Ready", reason: "QuotaExceeded" }],
 * });
 * Object.keys(reasons.reasons); // => ["QuotaExceeded"]
 * ```
 *
 * @public
 */
export function defineReasonCatalog<
  const Type extends string,
  const Name extends string,
  const Retired extends string = never,
>(definition: ReasonCatalogDefinition<Type, Name, Retired>): ReasonCatalog<Name, Type> {
  if (!isObject(definition)) throw invalidCatalog("", "an object", definition);
  const { name, contract, types, reasons, emits = [], retired } = definition;
  return checked({ name, contract, types, reasons, emits, ...(retired !== undefined && { retired }) });
}

/** A frozen copy of a catalog that holds. */
function checked<Name extends string, Type extends string>(
  catalog: ReasonCatalog<Name, Type>,
  inherited = 0,
): ReasonCatalog<Name, Type> {
  checkCatalog(catalog, inherited);
  let copy: ReasonCatalog<Name, Type>;
  try {
    copy = structuredClone(catalog);
  } catch {
    throw invalidCatalog("", "plain JSON", catalog);
  }
  return frozen(copy);
}

/**
 * What {@link extendCatalog} adds to a catalog.
 *
 * @public
 */
export interface CatalogExtension<
  Prefix extends string,
  BaseName extends string,
  BaseType extends string,
  Type extends string,
  Name extends string,
  Retired extends string,
> {
  /** What every added reason begins with and none of the base's does, so that the two never meet. */
  readonly prefix: Prefix;
  /** Name of the new catalog; absent means the base's. */
  readonly name?: string | undefined;
  /** Newest contract of the new catalog, at least the base's; absent means the base's. */
  readonly contract?: number | undefined;
  /** Condition types that the base lacks. Default: none. */
  readonly types?: Readonly<Record<Type, ConditionTypeEntry>> | undefined;
  /** The added reasons, each with the prefix. */
  readonly reasons: Readonly<
    Record<Name, ReasonDefinition<NoInfer<BaseType | Type>, NoInfer<BaseName | Name>>>
  > & {
    readonly [Wrong in Exclude<Name, `${Prefix}${string}`>]: never;
  };
  /** What is written where, besides what the base writes. Default: nothing. */
  readonly emits?:
    | readonly EmissionDefinition<
        NoInfer<BaseType | Type>,
        NoInfer<BaseName | Name>,
        NoInfer<BaseName | Name | Retired>
      >[]
    | undefined;
  /** Names of one's own that were reasons once. Default: none. */
  readonly retired?: Readonly<Record<Retired, RetiredReason>> | undefined;
}

/**
 * A catalog with a user's own reasons beside those of another one.
 *
 * @throws SlipwayError `INVALID_CATALOG` - as {@link defineReasonCatalog}, and when an added reason lacks the prefix,
 * a reason of the base begins with it, an added type exists already, or the contract is older than the base's.
 *
 * @example
 * ```ts
 * import { extendCatalog, sandboxReasons } from "slipway/conditions";
 *
 * const reasons = extendCatalog(sandboxReasons, {
 *   prefix: "Acme",
 *   reasons: { AcmeLicenseMissing: { types: ["Ready"], class: "terminal", summary: "No licence is left." } },
 * });
 * "AcmeLicenseMissing" in reasons.reasons; // => true
 * ```
 *
 * @public
 */
export function extendCatalog<
  BaseName extends string,
  BaseType extends string,
  const Prefix extends string,
  const Name extends string,
  const Type extends string = never,
  const Retired extends string = never,
>(
  base: ReasonCatalog<BaseName, BaseType>,
  extension: CatalogExtension<Prefix, BaseName, BaseType, Type, Name, Retired>,
): ReasonCatalog<BaseName | Name, BaseType | Type> {
  checkCatalog(base);
  if (!isObject(extension)) throw invalidCatalog("", "an object", extension);
  const { prefix, name = base.name, contract = base.contract, emits = [] } = extension;
  const [types, reasons, retired] = [extension.types ?? {}, extension.reasons, extension.retired ?? {}];
  if (typeof prefix !== "string" || prefix === "") throw invalidCatalog("prefix", "not empty", prefix);
  const taken = [...Object.keys(base.reasons), ...Object.keys(base.retired ?? {})];
  // Without letter case: two names that differ by it only are refused anyway.
  const met = taken.find((reason) => reason.toLowerCase().startsWith(prefix.toLowerCase()));
  if (met !== undefined) throw invalidCatalog("prefix", `unlike the beginning of ${met}`, prefix);
  if (!(contract >= base.contract)) throw invalidCatalog("contract", "at least the base's", contract);
  for (const [field, part] of Object.entries({ types, reasons, retired }))
    if (!isObject(part)) throw invalidCatalog(field, "an object", part);
  if (!Array.isArray(emits)) throw invalidCatalog("emits", "an array", emits);
  for (const reason of [...Object.keys(reasons), ...Object.keys(retired)]) {
    if (!reason.startsWith(prefix))
      throw invalidCatalog(`reasons.${reason}`, `a name with ${prefix} first`, reason);
  }
  for (const type of Object.keys(types)) {
    if (Object.hasOwn(base.types, type)) throw invalidCatalog(`types.${type}`, "a new name", type);
  }
  const extended = {
    name,
    contract,
    types: { ...base.types, ...(types as Readonly<Record<Type, ConditionTypeEntry>>) },
    reasons: { ...base.reasons, ...(reasons as Readonly<Record<Name, ReasonEntry>>) },
    emits: [...base.emits, ...(emits as readonly ReasonEmission[])],
    retired: { ...base.retired, ...retired },
  };
  return checked(extended, base.emits.length);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
