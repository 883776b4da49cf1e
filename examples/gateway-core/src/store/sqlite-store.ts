import Database from "libsql";
import { byDue } from "./due-order.js";
import { migrate } from "./migrations.js";
import type {
  ClaimDue,
  InsertResult,
  RecordChange,
  RecordPage,
  RecordStore,
  StoredRecord,
} from "./record-store.js";

interface Row {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly due_at: number | null;
  readonly value: string;
}

/** Another process may hold the write lock for as long as a checkpoint takes; waiting beats failing a request. */
const BUSY_TIMEOUT_MS = 10_000;

/**
 * Records in one SQLite file.
 *
 * Write-ahead logging lets a second process read while one writes. `synchronous = FULL` costs one flush per commit
 * (about half a millisecond on a solid state disk) and buys that an acknowledged write survives a power cut, not
 * only a killed process: a deadline that vanished with the power would be granted a second time. Progress, the only
 * frequent write, is bounded to a few a second for each sandbox.
 */
export class SqliteStore implements RecordStore {
  readonly #database: Database.Database;
  readonly #statements;
  #closed = false;

  constructor(path: string) {
    const database = new Database(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      database.pragma("journal_mode = WAL");
      database.pragma("synchronous = FULL");
      migrate(database);
    } catch (error) {
      database.close();
      throw error;
    }
    this.#database = database;
    this.#statements = {
      insert: database.prepare(
        "INSERT INTO records (id, name, version, due_at, value) VALUES (?, ?, 1, ?, ?)",
      ),
      get: database.prepare("SELECT * FROM records WHERE id = ?"),
      byName: database.prepare("SELECT * FROM records WHERE name = ?"),
      swap: database.prepare(
        "UPDATE records SET version = version + 1, due_at = ?, value = ?, claimed_by = NULL, claimed_until = NULL WHERE id = ? AND version = ?",
      ),
      remove: database.prepare("DELETE FROM records WHERE id = ? AND version = ?"),
      list: database.prepare("SELECT * FROM records WHERE id > ? ORDER BY id LIMIT ?"),
      claim: database.prepare(
        `UPDATE records SET claimed_by = ?, claimed_until = ? WHERE id IN (
           SELECT id FROM records
           WHERE due_at <= ? AND (due_at, id) > (?, ?) AND (claimed_until IS NULL OR claimed_until <= ? OR claimed_by = ?)
           ORDER BY due_at, id LIMIT ?)
         RETURNING *`,
      ),
      writes: database.prepare("PRAGMA data_version"),
      earliest: database.prepare("SELECT min(due_at) AS due_at FROM records WHERE due_at IS NOT NULL"),
    };
  }

  insert(record: Omit<StoredRecord, "version">): Promise<InsertResult> {
    return this.#step(() => {
      try {
        this.#statements.insert.run(record.id, record.name, record.dueAt, JSON.stringify(record.value));
        return "inserted";
      } catch (error) {
        const code = (error as { code?: unknown }).code;
        if (code === "SQLITE_CONSTRAINT_PRIMARYKEY") return "id-taken";
        if (code === "SQLITE_CONSTRAINT_UNIQUE") return "name-taken";
        throw error;
      }
    });
  }

  get(id: string): Promise<StoredRecord | null> {
    return this.#step(() => decodeRow(this.#statements.get.get(id)));
  }

  findByName(name: string): Promise<StoredRecord | null> {
    return this.#step(() => decodeRow(this.#statements.byName.get(name)));
  }

  compareAndSwap(id: string, version: number, change: RecordChange): Promise<boolean> {
    return this.#step(
      () => this.#statements.swap.run(change.dueAt, JSON.stringify(change.value), id, version).changes === 1,
    );
  }

  delete(id: string, version: number): Promise<boolean> {
    return this.#step(() => this.#statements.remove.run(id, version).changes === 1);
  }

  list({ after, limit }: { after?: string | undefined; limit: number }): Promise<RecordPage> {
    return this.#step(() => {
      // One more than asked for tells whether there is a next page.
      const rows = decodeRows(this.#statements.list.all(after ?? "", limit + 1));
      const items = rows.slice(0, limit);
      return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
    });
  }

  claimDue({ now, limit, owner, until, after }: ClaimDue): Promise<readonly StoredRecord[]> {
    return this.#step(() => {
      const from = [after?.dueAt ?? Number.MIN_SAFE_INTEGER, after?.id ?? ""];
      const claimed = decodeRows(this.#statements.claim.all(owner, until, now, ...from, now, owner, limit));
      return claimed.sort(byDue);
    });
  }

  earliestDue(): Promise<number | null> {
    return this.#step(() => (this.#statements.earliest.get() as { due_at: number | null }).due_at);
  }

  /** A number that is another one when another connection has written to the file since this was asked last. */
  writesOfOthers(): Promise<number> {
    return this.#step(() => (this.#statements.writes.get() as { data_version: number }).data_version);
  }

  close(): Promise<void> {
    return this.#step(() => {
      this.#closed = true;
      this.#database.close();
    });
  }

  /** SQLite answers at once; the port is asynchronous for the stores that do not. What is thrown is a rejection. */
  #step<T>(work: () => T): Promise<T> {
    return new Promise((resolve) => {
      // The library goes on answering from statements that were prepared before.
      if (this.#closed) throw new Error("the store is closed");
      resolve(work());
    });
  }
}

function decodeRows(rows: readonly unknown[]): StoredRecord[] {
  return rows.flatMap((row) => decodeRow(row) ?? []);
}

function decodeRow(found: unknown): StoredRecord | null {
  if (found === undefined || found === null) return null;
  const { id, name, version, due_at: dueAt, value } = found as Row;
  return { id, name, version, dueAt, value: JSON.parse(value) as StoredRecord["value"] };
}
