import { findByName } from "./catalog-lookup.js";
import type { ReasonCatalog, ReasonEntry, RetiredReason } from "./reason-catalog.js";

/**
 * Where {@link describeReason} looks.
 *
 * @public
 */
export interface DescribeOptions {
  readonly catalog: ReasonCatalog;
  /** Whose words a raw string may be; absent means every backend's. */
  readonly backend?: string | undefined;
}

/**
 * What a catalog says about a word.
 *
 * @public
 */
export interface ReasonDescription {
  /** The word as it was given. */
  readonly reason: string;
  /** How it was found: as a reason, as a backend's raw word, as a retired name, or not at all. */
  readonly found: "reason" | "raw" | "retired" | "unknown";
  /** The catalog's reason: the one named, the one that the raw word means, or the one that replaced a retired one. */
  readonly name?: string | undefined;
  readonly summary: string;
  /** All that the catalog says about `name`: class, action, types, phases. */
  readonly entry?: ReasonEntry | undefined;
}

/**
 * Describes a word: a reason of the catalog, a retired one, or what a backend prints. Letter case does not count. An
 * unknown word is described as unknown; nothing is assumed about it, and nothing is thrown.
 *
 * @example
 * ```ts
 * import { describeReason, sandboxReasons } from "slipway/conditions";
 *
 * describeReason("ErrImagePull", { catalog: sandboxReasons }).name; // => "ImagePullFailed"
 * describeReason("FromTheFuture", { catalog: sandboxReasons }).found; // => "unknown"
 * ```
 *
 * @public
 */
export function describeReason(reason: string, options: DescribeOptions): ReasonDescription {
  const { catalog, backend } = options;
  const named = findByName<ReasonEntry>(catalog.reasons, reason);
  const found = named ?? findRaw(catalog, reason.toLowerCase(), backend);
  if (found) {
    const [name, entry] = found;
    return { reason, found: named ? "reason" : "raw", name, summary: entry.summary, entry };
  }
  const retired = findByName<RetiredReason>(catalog.retired, reason)?.[1];
  if (!retired) return { reason, found: "unknown", summary: `Not in the catalog ${catalog.name}.` };
  return {
    reason,
    found: "retired",
    name: retired.replacedBy,
    summary: `Retired in contract ${retired.retiredIn}.`,
  };
}

function findRaw(
  { reasons }: ReasonCatalog,
  word: string,
  backend: string | undefined,
): [string, ReasonEntry] | undefined {
  return Object.entries(reasons).find(([, entry]) =>
    entry.sources?.some(
      (source) =>
        (backend ?? source.backend) === source.backend &&
        source.raw.some((raw) => raw.toLowerCase() === word),
    ),
  );
}
