import { ownField } from "../same-value.js";
import type { ReasonDescription } from "./describe-reason.js";
import type { ReasonCatalog, ReasonEntry, RetiredReason } from "./reason-catalog.js";

/** What a catalog means by a word. */
type Meaning = Pick<ReasonDescription, "found" | "name">;

/** A source that prints a word, in some letter case. */
interface Printed {
  readonly backend: string;
  /** As the source spells it. */
  readonly spellings: ReadonlySet<string>;
  readonly name: string;
}

/**
 * The answers of `describeReason` and `findByName` for whoever asks about thousands of words: what they find by going
 * through a catalog is looked up here.
 *
 * @internal
 */
export class WordIndex {
  readonly #catalog: ReasonCatalog;
  readonly #names: ReadonlyMap<string, string>;
  readonly #retired: ReadonlyMap<string, string>;
  readonly #printed: ReadonlyMap<string, readonly Printed[]>;

  constructor(catalog: ReasonCatalog) {
    this.#catalog = catalog;
    this.#names = folded(catalog.reasons);
    this.#retired = folded(catalog.retired ?? {});
    this.#printed = printedWords(catalog);
  }

  /** The name of a reason in the catalog's own letter case. */
  nameOf(word: string): string | undefined {
    return spelled(this.#catalog.reasons, this.#names, word);
  }

  /** The name of a retired reason in the catalog's own letter case. */
  retiredNameOf(word: string): string | undefined {
    return spelled(this.#catalog.retired, this.#retired, word);
  }

  /** What `describeReason` finds. */
  meaningOf(word: string, backend: string | undefined): Meaning {
    const isName = ownField<ReasonEntry>(this.#catalog.reasons, word) !== undefined;
    const raw = isName ? undefined : this.#rawMeaning(word, backend);
    const name = backend !== undefined && raw !== undefined ? undefined : this.nameOf(word);
    if (name !== undefined) return { found: "reason", name };
    if (raw !== undefined) return { found: "raw", name: raw };
    const retired = this.retiredNameOf(word);
    if (retired === undefined) return { found: "unknown", name: undefined };
    return {
      found: "retired",
      name: ownField<RetiredReason>(this.#catalog.retired, retired)?.replacedBy,
    };
  }

  /** The reason that a backend's word means: the exact spelling first, then the first backend in the alphabet. */
  #rawMeaning(word: string, asked: string | undefined): string | undefined {
    let best: Printed | undefined;
    for (const printed of this.#printed.get(word.toLowerCase()) ?? []) {
      if (asked !== undefined && printed.backend !== asked) continue;
      if (best === undefined || isBefore(printed, best, word)) best = printed;
    }
    return best?.name;
  }
}

function isBefore(a: Printed, b: Printed, word: string): boolean {
  const [exact, other] = [a.spellings.has(word), b.spellings.has(word)];
  return exact === other ? a.backend < b.backend : exact;
}

/** Names by their lower case; the first of several stands, as where a list is gone through. */
function folded(table: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const name of Object.keys(table)) {
    const key = name.toLowerCase();
    if (!names.has(key)) names.set(key, name);
  }
  return names;
}

function spelled(
  table: Readonly<Record<string, unknown>> | undefined,
  names: ReadonlyMap<string, string>,
  word: string,
): string | undefined {
  return ownField(table, word) === undefined ? names.get(word.toLowerCase()) : word;
}

function printedWords({ reasons }: ReasonCatalog): ReadonlyMap<string, readonly Printed[]> {
  const words = new Map<string, Printed[]>();
  for (const [name, { sources = [] }] of Object.entries<ReasonEntry>(reasons)) {
    for (const { backend, raw } of sources) {
      const spellings = new Set(raw);
      for (const word of new Set(raw.map((each) => each.toLowerCase()))) {
        const printed = words.get(word) ?? [];
        printed.push({ backend, spellings, name });
        words.set(word, printed);
      }
    }
  }
  return words;
}
