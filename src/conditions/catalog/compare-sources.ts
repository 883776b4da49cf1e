import { sameValue } from "../same-value.js";
import { additive, breaking, type CatalogDifference, safe } from "./catalog-difference.js";
import { exactEntry } from "./catalog-lookup.js";
import { describeReason } from "./describe-reason.js";
import type { ReasonCatalog, ReasonEntry } from "./reason-catalog.js";

/**
 * What differs in what words mean: what `describeReason` answers for every word that either catalog knows, for every
 * backend and without one. A word that means another reason is another emission.
 *
 * @internal
 */
export function compareSources(before: ReasonCatalog, after: ReasonCatalog): readonly CatalogDifference[] {
  const found = sameWords(before, after) ? [] : compareMeanings(before, after);
  const texts = Object.entries<ReasonEntry>(before.reasons).flatMap(([reason, entry]) => {
    const now = exactEntry<ReasonEntry>(after.reasons, reason);
    if (now === undefined || sameValue(entry.sources ?? [], now.sources ?? [])) return [];
    if (found.some(({ subject }) => subject === reason)) return [];
    return [safe("source-text", reason, `The sources of ${reason} are described anew.`)];
  });
  return [...found, ...texts];
}

function compareMeanings(before: ReasonCatalog, after: ReasonCatalog): readonly CatalogDifference[] {
  const backends = [...new Set([before, after].flatMap(backendsOf))];
  const found = new Map<string, CatalogDifference>();
  for (const word of new Set([before, after].flatMap(wordsOf))) {
    const known = Object.hasOwn(before.reasons, word);
    for (const backend of [undefined, ...backends]) {
      const meant = describeReason(word, { catalog: before, backend });
      const means = describeReason(word, { catalog: after, backend });
      // A name that went or came is told by its own difference.
      if (means.name === meant.name && (means.found === "unknown") === (meant.found === "unknown")) continue;
      if (known && !Object.hasOwn(after.reasons, word)) continue;
      if (!known && Object.hasOwn(after.reasons, word) && meant.found === "unknown") continue;
      if (meant.found === "retired" && means.found === "retired") continue;
      const key = JSON.stringify([word, meant.name, means.name]);
      if (!found.has(key)) found.set(key, differenceOf(word, backend, meant.name, means.name ?? word));
    }
  }
  return [...found.values()];
}

function differenceOf(
  word: string,
  backend: string | undefined,
  meant: string | undefined,
  means: string,
): CatalogDifference {
  const said = backend === undefined ? word : `${backend} ${word}`;
  if (meant === undefined) return additive("source-added", means, `${said} is now reported as ${means}.`);
  const change = means === word ? "is not mapped any more" : `is now reported as ${means}`;
  const text = `${said} was reported as ${meant} and ${change}: clients that match ${meant} miss it.`;
  return breaking("source-changed", meant, text, [
    `Keep ${word} under ${meant}, with the finer reason as its cause.`,
  ]);
}

/** Whether every answer is the same without asking: the names, the retired ones and the sources are. */
function sameWords(before: ReasonCatalog, after: ReasonCatalog): boolean {
  const [old, now] = [before, after].map(({ reasons, retired = {} }) => [
    Object.fromEntries(Object.entries(reasons).map(([name, { sources = [] }]) => [name, sources])),
    retired,
  ]);
  return sameValue(old, now);
}

function wordsOf({ reasons, retired = {} }: ReasonCatalog): readonly string[] {
  const raw = Object.values(reasons).flatMap(({ sources = [] }) => sources.flatMap((source) => source.raw));
  return [...Object.keys(reasons), ...Object.keys(retired), ...raw];
}

function backendsOf({ reasons }: ReasonCatalog): readonly string[] {
  return Object.values(reasons).flatMap(({ sources = [] }) => sources.map(({ backend }) => backend));
}
