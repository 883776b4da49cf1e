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
  readonly name: string;
  readonly contract: number;
  readonly types: Readonly<Record<Type, ConditionTypeEntry>>;
  readonly reasons: Readonly<Record<Name, ReasonDefinition<NoInfer<Type>, NoInfer<Name>>>>;
  readonly emits?:
    | readonly EmissionDefinition<NoInfer<Type>, NoInfer<Name>, NoInfer<Name | Retired>>[]
    | undefined;
  readonly retired?: Readonly<Record<Retired, RetiredReason>> | undefined;
}

/**
 * A {@link ReasonEntry} whose types and other reasons are names of its own catalog.
 *
 * @public
 */
export interface ReasonDefinition<Type extends string, Name extends string> extends ReasonEntry {
  readonly types: readonly Type[];
  readonly replacedBy?: Name | undefined;
  readonly refines?: readonly Name[] | undefined;
}

/**
 * A {@link ReasonEmission} whose type and reasons are names of its own catalog.
 *
 * @public
 */
export interface EmissionDefinition<Type extends string, Name extends string, General extends string>
  extends ReasonEmission {
  readonly type: Type;
  readonly reason: Name;
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
>(definition: ReasonCatalogDefinition<Type, Name, Retired>): ReasonCatalog<Name> {
  const { name, contract, types, reasons, emits = [], retired } = definition;
  const catalog = { name, contract, types, reasons, emits, ...(retired && { retired }) };
  checkCatalog(catalog);
  return frozen(structuredClone(catalog));
}

/**
 * What {@link extendCatalog} adds to a catalog.
 *
 * @public
 */
export interface CatalogExtension<
  Prefix extends string,
  BaseName extends string,
  Type extends string,
  Name extends string,
> {
  /** What every added reason begins with, so that it never meets a reason that the base adds later. */
  readonly prefix: Prefix;
  /** Name of the new catalog; absent means the base's. */
  readonly name?: string | undefined;
  /** Newest contract of the new catalog, at least the base's; absent means the base's. */
  readonly contract?: number | undefined;
  readonly types?: Readonly<Record<Type, ConditionTypeEntry>> | undefined;
  readonly reasons: Readonly<Record<Name, ReasonEntry>> & {
    readonly [Wrong in Exclude<Name, `${Prefix}${string}`>]: never;
  };
  readonly emits?: readonly EmissionDefinition<string, NoInfer<BaseName | Name>, string>[] | undefined;
  readonly retired?: Readonly<Record<string, RetiredReason>> | undefined;
}

/**
 * A catalog with a user's own reasons beside those of another one.
 *
 * @throws SlipwayError `INVALID_CATALOG` - as {@link defineReasonCatalog}, and when an added reason lacks the prefix,
 * an added type exists already, or the contract is older than the base's.
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
  const Prefix extends string,
  const Type extends string,
  const Name extends string,
>(
  base: ReasonCatalog<BaseName>,
  extension: CatalogExtension<Prefix, BaseName, Type, Name>,
): ReasonCatalog<BaseName | Name> {
  const {
    prefix,
    name = base.name,
    contract = base.contract,
    types = {},
    emits = [],
    retired = {},
  } = extension;
  if (prefix === "") throw invalidCatalog("prefix", "not empty", prefix);
  if (contract < base.contract) throw invalidCatalog("contract", "at least the base's", contract);
  for (const reason of [...Object.keys(extension.reasons), ...Object.keys(retired)]) {
    if (!reason.startsWith(prefix))
      throw invalidCatalog(`reasons.${reason}`, `a name with ${prefix} first`, reason);
    if (Object.hasOwn(base.reasons, reason)) throw invalidCatalog(`reasons.${reason}`, "a new name", reason);
  }
  for (const type of Object.keys(types)) {
    if (Object.hasOwn(base.types, type)) throw invalidCatalog(`types.${type}`, "a new name", type);
  }
  const catalog = {
    name,
    contract,
    types: { ...base.types, ...types },
    reasons: { ...base.reasons, ...(extension.reasons as Readonly<Record<Name, ReasonEntry>>) },
    emits: [...base.emits, ...emits],
    retired: { ...base.retired, ...retired },
  };
  checkCatalog(catalog);
  return frozen(structuredClone(catalog));
}
