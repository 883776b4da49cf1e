import Database from "libsql";
import type { ActivationEntry, ActivationLedger } from "slipway/retry";
import { applySteps } from "./migrations.js";

/** As in the record store's list: a step that was released is never edited. */
const STEPS: readonly string[] = [
  `CREATE TABLE activations (
     instance_id TEXT PRIMARY KEY NOT NULL,
     version INTEGER NOT NULL,
     entry TEXT NOT NULL
   ) WITHOUT ROWID;`,
];

const BUSY_TIMEOUT_MS = 10_000;

/**
 * The activation ledger in the gateway's database: one row for each instance, changed by compare-and-swap only, and
 * flushed before it is acknowledged, so that no crash and no power cut lets a workload start twice.
 */
export class SqliteActivationLedger implements ActivationLedger {
  readonly #database: Database.Database;
  readonly #statements;

  /** @throws NewerStoreError for a file that a newer gateway wrote */
  constructor(path: string) {
    const database = new Database(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      database.pragma("journal_mode = WAL");
      database.pragma("synchronous = FULL");
      applySteps(database, "activation_migrations", STEPS);
    } catch (error) {
      database.close();
      throw error;
    }
    this.#database = database;
    this.#statements = {
      get: database.prepare("SELECT entry FROM activations WHERE instance_id = ?"),
      insert: database.prepare(
        "INSERT OR IGNORE INTO activations (version, entry, instance_id) VALUES (?, ?, ?)",
      ),
      update: database.prepare(
        "UPDATE activations SET version = ?, entry = ? WHERE instance_id = ? AND version = ?",
      ),
      remove: database.prepare("DELETE FROM activations WHERE instance_id = ? AND version = ?"),
      // Everything between "prefix/" and "prefix0", the character after the slash.
      forget: database.prepare("DELETE FROM activations WHERE instance_id >= ? AND instance_id < ?"),
    };
  }

  read(instanceId: string): Promise<ActivationEntry | null> {
    return step(() => this.#read(instanceId));
  }

  compareAndSwap(
    instanceId: string,
    expectedVersion: number | null,
    next: ActivationEntry | null,
  ): Promise<boolean> {
    return step(() => {
      const { insert, update, remove } = this.#statements;
      if (next === null) {
        return expectedVersion === null
          ? this.#read(instanceId) === null
          : remove.run(instanceId, expectedVersion).changes === 1;
      }
      // As JSON: the driver cuts a text at a NUL, and half a claim could be another's.
      const row = [next.version, JSON.stringify(next), instanceId];
      return expectedVersion === null
        ? insert.run(...row).changes === 1
        : update.run(...row, expectedVersion).changes === 1;
    });
  }

  /** Removes the entries of all instances of a sandbox that is gone: ids that begin with its own and a slash. */
  forget(sandboxId: string): Promise<void> {
    return step(() => {
      this.#statements.forget.run(`${sandboxId}/`, `${sandboxId}0`);
    });
  }

  close(): Promise<void> {
    return step(() => {
      this.#database.close();
    });
  }

  #read(instanceId: string): ActivationEntry | null {
    const found: unknown = this.#statements.get.get(instanceId);
    if (found === undefined || found === null) return null;
    // A state of a newer gateway is kept as it is: the rules read it as uncertain.
    return JSON.parse((found as { entry: string }).entry) as ActivationEntry;
  }
}

/** SQLite answers at once; the port is asynchronous for the ledgers that do not. What is thrown is a rejection. */
function step<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work());
  });
}
