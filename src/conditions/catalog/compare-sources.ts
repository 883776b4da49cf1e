import { shownIndex } from "../convert-conditions.js";
import { sameValue } from "../same-value.js";
import { additive, breaking, type CatalogDifference, safe } from "./catalog-difference.js";
import { ownField } from "../same-value.js";
import type { ReasonCatalog, ReasonEmission, ReasonEntry } from "./reason-catalog.js";
import { WordIndex } from "./word-index.js";

/**
 * What differs in what words mean: what `describeReason` answers for every word that either catalog knows, for every
 * backend and without one. A word that means another reason is another emission.
 *
 * @internal
 */
export function compareSources(before: ReasonCatalog, after: ReasonCatalog): readonly CatalogDifference[] {
  const found = sameWords(before, after) ? [] : compareMeanings(before, after);
  const told = new Set(found.map(({ subject }) => subject));
  const texts = Object.entries<ReasonEntry>(before.reasons).flatMap(([reason, entry]) => {
    const now = ownField<ReasonEntry>(after.reasons, reason);
    if (now === undefined || sameValue(entry.sources ?? [], now.sources ?? [])) return [];
    // Words that went or came are told already; what is said about the others is not.
    if (told.has(reason) && sameVersions(entry, now)) return [];
    return [safe("source-text", reason, `The sources of ${reason} are described anew.`)];
  });
  return [...found, ...texts];
}

function compareMeanings(before: ReasonCatalog, after: ReasonCatalog): readonly CatalogDifference[] {
  const backends = [...new Set([before, after].flatMap(backendsOf))];
  const [old, now] = [new WordIndex(before), new WordIndex(after)];
  const emitted = emissionsByReason(after);
  const found = new Map<string, CatalogDifference>();
  for (const word of spellings(new Set([before, after].flatMap(wordsOf)))) {
    const [named, stays] = [old.nameOf(word) !== undefined, now.nameOf(word) !== undefined];
    for (const backend of [undefined, ...backends]) {
      const meant = old.meaningOf(word, backend);
      const means = now.meaningOf(word, backend);
      if (means.name === meant.name) continue;
      // A name that went or came is told by its own difference; a backend's word that only looks like it is not.
      if (meant.found === "reason" && !stays) continue;
      if (!named && stays && meant.name === undefined) continue;
      if (meant.found === "retired" && means.found === "retired") continue;
      const key = JSON.stringify([word.toLowerCase(), meant.name, means.name]);
      if (found.has(key)) continue;
      const said = backend === undefined ? word : `${backend} ${word}`;
      found.set(
        key,
        meant.name !== undefined &&
          means.name !== undefined &&
          isReplaced(before, after, meant.name, means.name, emitted.get(means.name) ?? [])
          ? replaced(said, meant.name, means.name)
          : differenceOf(said, word, meant.name, means.name, before.contract + 1),
      );
    }
  }
  return [...found.values()];
}

/**
 * Whether a reason was retired by a contract that `before` does not have, in favour of one that is published as a case
 * of it: readers of every older contract see the retired one still.
 */
function isReplaced(
  before: ReasonCatalog,
  after: ReasonCatalog,
  retired: string,
  by: string,
  emissions: readonly ReasonEmission[],
): boolean {
  const reservation = ownField(after.retired, retired);
  return (
    reservation !== undefined &&
    reservation.retiredIn > before.contract &&
    reservation.replacedBy === by &&
    emissions.some(({ generalReasons = [] }) => {
      const chain = [by, ...generalReasons];
      return chain[shownIndex(chain, after, before.contract)] === retired;
    })
  );
}

function emissionsByReason({ emits }: ReasonCatalog): ReadonlyMap<string, readonly ReasonEmission[]> {
  const found = new Map<string, ReasonEmission[]>();
  for (const emission of emits) {
    const others = found.get(emission.reason);
    if (others === undefined) found.set(emission.reason, [emission]);
    else others.push(emission);
  }
  return found;
}

function replaced(said: string, meant: string, means: string): CatalogDifference {
  const text = `${said} is now reported as ${means}, which replaces the retired ${meant} and is published as a case of it.`;
  return additive("source-replaced", meant, text);
}

function differenceOf(
  said: string,
  word: string,
  meant: string | undefined,
  means: string | undefined,
  next: number,
): CatalogDifference {
  const change = means === undefined ? "is not mapped any more" : `is now reported as ${means}`;
  if (meant === undefined) return additive("source-added", means ?? word, `${said} ${change}.`);
  const text = `${said} was reported as ${meant} and ${change}: clients that match ${meant} miss it.`;
  return breaking("source-changed", meant, text, [
    `keep ${word} under ${meant}, with the finer reason as its cause.`,
    `retire ${meant} in contract ${next} for a reason with since: ${next} that takes ${word} over and is published with ` +
      `generalReasons: ["${meant}"].`,
  ]);
}

/** Whether two versions of a reason say the same about the versions that print the words that both know. */
function sameVersions(before: ReasonEntry, after: ReasonEntry): boolean {
  const [old, now] = [versionsByWord(before), versionsByWord(after)];
  return [...old].every(([word, versions]) => !now.has(word) || sameValue(versions, now.get(word)));
}

function versionsByWord({ sources = [] }: ReasonEntry): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { backend, raw, versions = "" } of sources) {
    for (const word of raw) {
      const key = JSON.stringify([backend, word]);
      found.set(key, [...(found.get(key) ?? []), versions]);
    }
  }
  return found;
}

/** Whether every answer is the same without asking: the names, the retired ones and the sources are. */
function sameWords(before: ReasonCatalog, after: ReasonCatalog): boolean {
  const [old, now] = [before, after].map(({ reasons, retired = {} }) => [
    Object.fromEntries(Object.entries(reasons).map(([name, { sources = [] }]) => [name, sources])),
    retired,
  ]);
  return sameValue(old, now);
}

/**
 * The words, and each of them also as nobody states it: letter case does not count where no exact spelling is found, and
 * what an inexact one means is an answer of its own.
 */
function spellings(words: ReadonlySet<string>): readonly string[] {
  const others = [...words].flatMap((word) => unstated(word, words) ?? []);
  return [...new Set([...words, ...others])];
}

/** A spelling of a word that is none of the words; most often the first one that is tried. */
function unstated(word: string, words: ReadonlySet<string>): string | undefined {
  const [lower, upper] = [word.toLowerCase(), word.toUpperCase()];
  for (let at = 0; at <= word.length; at += 1) {
    const spelling = upper.slice(0, at) + lower.slice(at);
    if (!words.has(spelling)) return spelling;
  }
  return undefined;
}

function wordsOf({ reasons, retired = {} }: ReasonCatalog): readonly string[] {
  const raw = Object.values(reasons).flatMap(({ sources = [] }) => sources.flatMap((source) => source.raw));
  return [...Object.keys(reasons), ...Object.keys(retired), ...raw];
}

function backendsOf({ reasons }: ReasonCatalog): readonly string[] {
  return Object.values(reasons).flatMap(({ sources = [] }) => sources.map(({ backend }) => backend));
}
