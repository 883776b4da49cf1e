import { asText, ownField } from "../same-value.js";
import { findByName, reasonClass } from "./catalog-lookup.js";
import type { ReasonCatalog, ReasonClass, ReasonEntry, RetiredReason } from "./reason-catalog.js";

/**
 * Where {@link describeReason} looks.
 *
 * @public
 */
export interface DescribeOptions {
  /** Where the word is looked up. */
  readonly catalog: ReasonCatalog;
  /** Whose words a raw string may be; absent means every backend's, the first in the alphabet where they differ. */
  readonly backend?: string | undefined;
}

/**
 * What a catalog says about a word.
 *
 * @public
 */
export interface ReasonDescription {
  /** The word as it was given; empty for what is no text. */
  readonly reason: string;
  /** How it was found: as a reason, as a backend's raw word, as a retired name, or not at all. */
  readonly found: "reason" | "raw" | "retired" | "unknown";
  /** The catalog's reason: the one named, the one that the raw word means, or the one that replaced a retired one. */
  readonly name?: string | undefined;
  /** What the word says about the future; for a retired one, what it said, for the readers that still know it. */
  readonly class?: ReasonClass | undefined;
  /** What it means, one sentence; what became of it, for a retired or an unknown one. */
  readonly summary: string;
  /** All that the catalog says about `name`: class, action, types, phases. */
  readonly entry?: ReasonEntry | undefined;
}

/**
 * Describes a word: a reason of the catalog, a retired one, or what a backend prints.
 *
 * The exact name of a reason comes first, then the words of the backend that is asked about, then a name in another
 * letter case, then (where no backend is asked about) any backend's word. An unknown word is described as unknown;
 * nothing is assumed about it, and nothing is thrown. The order in which the catalog states its reasons does not count.
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
export function describeReason(
  reason: string | null | undefined,
  options: DescribeOptions,
): ReasonDescription {
  const { catalog, backend } = options;
  // A Pod's condition has no reason where there is nothing to say, and a peer's may be anything.
  const word = asText(reason);
  const raw = ownField<ReasonEntry>(catalog.reasons, word) ? undefined : findRaw(catalog, word, backend);
  const named = backend !== undefined && raw ? undefined : findByName<ReasonEntry>(catalog.reasons, word);
  const known = named ?? raw;
  const retired = known ? undefined : findByName<RetiredReason>(catalog.retired, word);
  const name = known ? known[0] : retired?.[1].replacedBy;
  const entry = ownField<ReasonEntry>(catalog.reasons, name);
  return {
    reason: word,
    found: named ? "reason" : raw ? "raw" : retired ? "retired" : "unknown",
    name,
    entry,
    class: reasonClass(catalog, retired ? retired[0] : name),
    summary: retired
      ? `Retired in contract ${retired[1].retiredIn}.`
      : (entry?.summary ?? `Not in the catalog ${catalog.name}.`),
  };
}

function findRaw(
  { reasons }: ReasonCatalog,
  word: string,
  asked: string | undefined,
): [string, ReasonEntry] | undefined {
  const folded = word.toLowerCase();
  // The exact spelling before another one, then the alphabet: never the position.
  const [first] = Object.entries<ReasonEntry>(reasons)
    .flatMap((found) =>
      (found[1].sources ?? []).flatMap(({ backend, raw }) =>
        (asked ?? backend) === backend && raw.some((each) => each.toLowerCase() === folded)
          ? { rank: `${raw.includes(word) ? 0 : 1}${backend}`, found }
          : [],
      ),
    )
    .sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return first?.found;
}
