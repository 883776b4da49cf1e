import type Database from "libsql";

/**
 * The schema as a list of steps. A step that was released is never edited: the next change is the next step. Applied
 * steps are kept in a table, so that an old file is brought up to date and a newer one is refused.
 */
const STEPS: readonly string[] = [
  `CREATE TABLE records (
     id TEXT PRIMARY KEY NOT NULL,
     name TEXT NOT NULL UNIQUE,
     version INTEGER NOT NULL,
     due_at INTEGER,
     value TEXT NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX records_due ON records (due_at) WHERE due_at IS NOT NULL;`,
  `ALTER TABLE records ADD COLUMN claimed_by TEXT;
   ALTER TABLE records ADD COLUMN claimed_until INTEGER;`,
];

/** The store was written by a newer gateway than this one. */
export class NewerStoreError extends Error {
  override readonly name = "NewerStoreError";
  constructor(found: number, known: number) {
    super(`The store has schema version ${found}, and this gateway knows ${known}: use a newer gateway`);
  }
}

/** Brings the schema up to date. Two gateways may do it at once: the steps run under SQLite's write lock. */
export function migrate(database: Database.Database): void {
  applySteps(database, "migrations", STEPS);
}

/** @param table - Where the applied steps are kept: one table for each list of steps. */
export function applySteps(database: Database.Database, table: string, steps: readonly string[]): void {
  const upgrade = database.transaction(() => {
    database.exec(`CREATE TABLE IF NOT EXISTS ${table} (step INTEGER PRIMARY KEY NOT NULL)`);
    const row = database.prepare(`SELECT coalesce(max(step), 0) AS step FROM ${table}`).get();
    const done = (row as { step: number }).step;
    if (done > steps.length) throw new NewerStoreError(done, steps.length);
    for (const [index, sql] of steps.entries()) {
      if (index < done) continue;
      database.exec(sql);
      database.prepare(`INSERT INTO ${table} (step) VALUES (?)`).run(index + 1);
    }
  });
  upgrade.immediate();
}
