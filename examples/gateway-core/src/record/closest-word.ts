/** Of words, the one that was most likely meant by another that is none of them; `null` when none is near. */
export function closestWord(word: string, words: readonly string[]): string | null {
  const most = Math.max(1, Math.floor(word.length / 5));
  const near = words
    // Nothing shorter or longer by more is near: a word may be of any length, and comparing takes the product of two.
    .filter((each) => Math.abs(each.length - word.length) <= most)
    .map((each) => ({ each, edits: edits(word.toLowerCase(), each.toLowerCase()) }))
    .filter(({ edits: count }) => count <= most)
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.each ?? null;
}

/** How many letters have to be put in, left out or replaced to make one word of another. */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let at = 0; at < from.length; at += 1) {
    const next = [at + 1];
    for (let other = 1; other <= to.length; other += 1) {
      const [diagonal = 0, above = 0, left = 0] = [row[other - 1], row[other], next[other - 1]];
      next.push(Math.min(above + 1, left + 1, diagonal + (from[at] === to[other - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
