/**
 * One thing that every implementation of a port must do. Any test runner fits: `run` rejects when it is not done.
 *
 * @public
 */
export interface ConformanceCase<Subject> {
  /** What must hold, as a sentence. */
  readonly name: string;
  /**
   * @param open - Makes a fresh subject, on which nothing has happened yet. Called once in each case.
   * @throws Error that says what was expected and what was found.
   */
  run(open: () => Subject | Promise<Subject>): Promise<void>;
}

/** @internal */
export function expectEqual(what: string, found: unknown, expected: unknown): void {
  const [seen, wanted] = [textOf(found), textOf(expected)];
  if (seen !== wanted) throw new Error(`${what}: expected ${wanted}, found ${seen}`);
}

/** @internal */
export function expectThat(what: string, holds: boolean): void {
  if (!holds) throw new Error(`${what}: that does not hold`);
}

/** Keys in one order: two objects with the same content are the same. */
function textOf(value: unknown): string {
  if (value === undefined) return "undefined";
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}
