/** From where to where something stands in a text. */
export type TextRange = readonly [from: number, to: number];

const WORD_BEFORE = /[\p{L}\p{N}_]$/u;
const WORD_AFTER = /^[\p{L}\p{N}_]/u;
const LAST_HALF = /[\udc00-\udfff]/;
const FIRST_HALF = /[\ud800-\udbff]/;

/**
 * What is taken out of a text. All is found in the text as it was: what is left of one secret would else not be known
 * any more where another one has overlapped it.
 */
export class HiddenRanges {
  readonly #text: string;
  readonly #ranges: TextRange[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  add(range: TextRange): void {
    this.#ranges.push(range);
  }

  /** Everywhere that this stands, also over itself; as a word: where it is not a part of a longer one. */
  placesOf(wanted: string, asWord: boolean): readonly TextRange[] {
    const found: TextRange[] = [];
    const text = this.#text;
    for (let from = text.indexOf(wanted); from !== -1; from = text.indexOf(wanted, from + 1)) {
      const to = from + wanted.length;
      if (!asWord || !(this.#goesOnBefore(from) || this.#goesOnAfter(to))) found.push(this.#whole(from, to));
    }
    return found;
  }

  /** The text with this in the place of everything that is taken out. What only adjoins is replaced one by one. */
  replacedBy(replacement: string): string {
    let left = "";
    let end = 0;
    for (const [from, to] of [...this.#ranges].sort(([a], [b]) => a - b)) {
      if (from >= end) left += this.#text.slice(end, from) + replacement;
      end = Math.max(end, to);
    }
    return left + this.#text.slice(end);
  }

  /** A word ends where anything else begins, also at the edge of what is hidden, or of what is looked for. */
  #goesOnBefore(from: number): boolean {
    return this.#isInWord(from) && !this.#isHidden(from - 1);
  }

  #goesOnAfter(to: number): boolean {
    return this.#isInWord(to) && !this.#isHidden(to);
  }

  #isInWord(at: number): boolean {
    const text = this.#text;
    return WORD_BEFORE.test(text.slice(Math.max(at - 2, 0), at)) && WORD_AFTER.test(text.slice(at, at + 2));
  }

  #isHidden(at: number): boolean {
    return this.#ranges.some(([from, to]) => from <= at && at < to);
  }

  /** With the other half of a character that is cut in two. */
  #whole(from: number, to: number): TextRange {
    const text = this.#text;
    const cutsFirst = LAST_HALF.test(text.charAt(from)) && FIRST_HALF.test(text.charAt(from - 1));
    const cutsLast = FIRST_HALF.test(text.charAt(to - 1)) && LAST_HALF.test(text.charAt(to));
    return [cutsFirst ? from - 1 : from, cutsLast ? to + 1 : to];
  }
}
