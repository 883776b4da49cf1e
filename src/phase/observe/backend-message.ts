/** Something that a backend says: a word for programs and a text for people. */
export interface BackendWord {
  /** As it was spelled; `null` or `""` when there is none. */
  readonly reason: string | null;
  readonly message: string | null;
}

/** The text that came with the word that decided, of the first evidence that has both. It is shown and never read. */
export function messageWith(
  word: string | null,
  evidence: readonly (BackendWord | null | undefined)[],
): string | null {
  if (word === null || word === "") return null;
  for (const said of evidence) {
    if (said?.reason === word && said.message !== null && said.message !== "") return said.message;
  }
  return null;
}
