import pg from "pg";

const counts = new Map<string, number>();

/** Counts what this process asks of PostgreSQL, by the beginning of the statement, from here on. */
export function countQueries(): void {
  const prototype = pg.Pool.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const { query } = prototype;
  prototype.query = function (this: unknown, ...args: unknown[]) {
    const [text] = args;
    if (typeof text === "string") {
      const kind = text.trim().split(/\s+/).slice(0, 4).join(" ");
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    return query.apply(this, args);
  };
}

/** How often each kind was asked since the last call. */
export function takeCounts(): Readonly<Record<string, number>> {
  const taken = Object.fromEntries([...counts].sort(([, one], [, other]) => other - one));
  counts.clear();
  return taken;
}
