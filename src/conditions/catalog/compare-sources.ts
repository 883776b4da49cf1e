import { sameValue } from "../same-value.js";
import { additive, breaking, type CatalogDifference, safe } from "./catalog-difference.js";
import type { ReasonCatalog } from "./reason-catalog.js";

/**
 * What differs in how backends' words are reported. A word that means another reason is another emission.
 *
 * @internal
 */
export function compareSources(before: ReasonCatalog, after: ReasonCatalog): readonly CatalogDifference[] {
  const found: CatalogDifference[] = [];
  const meant = meanings(before);
  const means = meanings(after);
  for (const [word, reason] of meant) {
    const now = means.get(word);
    if (now === reason) continue;
    const change = now === undefined ? "is not mapped any more" : `is now reported as ${now}`;
    const text = `${word} was reported as ${reason} and ${change}: clients that match ${reason} miss it.`;
    const remedies = [`Keep ${word} under ${reason}, with the finer reason as its cause.`];
    found.push(breaking("source-changed", reason, text, remedies));
  }
  for (const [word, reason] of means) {
    if (!meant.has(word))
      found.push(additive("source-added", reason, `${word} is now reported as ${reason}.`));
  }
  if (found.length > 0) return found;
  return Object.entries(before.reasons).flatMap(([reason, entry]) => {
    const now = after.reasons[reason];
    if (now === undefined || sameValue(entry.sources ?? [], now.sources ?? [])) return [];
    return [safe("source-text", reason, `The sources of ${reason} are described anew.`)];
  });
}

/** The reason of each word, by `backend word`; where two reasons claim a word the first one speaks, as in a lookup. */
function meanings(catalog: ReasonCatalog): ReadonlyMap<string, string> {
  const meaning = new Map<string, string>();
  for (const [reason, { sources = [] }] of Object.entries(catalog.reasons)) {
    for (const { backend, raw } of sources) {
      for (const word of raw) {
        const key = `${backend} ${word.toLowerCase()}`;
        if (!meaning.has(key)) meaning.set(key, reason);
      }
    }
  }
  return meaning;
}
