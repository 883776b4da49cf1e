import type pg from "pg";
import type {
  ClaimDue,
  InsertResult,
  RecordChange,
  RecordPage,
  RecordStore,
  StoredRecord,
} from "../record-store.js";
import { byDue } from "../due-order.js";
import { ChangeTeller, type ToldChange } from "./change-teller.js";
import { migratePostgres, type MigrationOptions } from "./migrations.js";
import { PostgresActivationLedger } from "./postgres-ledger.js";
import { PostgresDataHomes } from "./postgres-data-homes.js";
import { PostgresSessions } from "./postgres-sessions.js";
import { openPool, type PostgresOptions } from "./pool.js";

interface Row {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly due_at: number | null;
  readonly value: string;
}

const UNIQUE_VIOLATION = "23505";
const COLUMNS = "records.id, records.name, records.version, records.due_at, records.value";

/**
 * Records in a PostgreSQL database that any number of gateways share.
 *
 * Each decision is one statement and thereby one transaction: a row is written only while its version is the one that
 * the decision was made on. A connection that breaks in the middle of a write leaves it open whether the write was
 * done; the call rejects, and whoever retries reads first.
 */
export class PostgresStore implements RecordStore {
  readonly sessions: PostgresSessions;
  readonly ledger: PostgresActivationLedger;
  readonly dataHomes: PostgresDataHomes;
  readonly #pool: pg.Pool;
  readonly #teller: ChangeTeller;

  private constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.#teller = new ChangeTeller(pool);
    this.sessions = new PostgresSessions(pool);
    this.ledger = new PostgresActivationLedger(pool);
    this.dataHomes = new PostgresDataHomes(pool);
  }

  /** What time the database has, epoch milliseconds. */
  async now(): Promise<number> {
    const { rows } = await this.#pool.query<{ now: number }>(
      "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now",
    );
    return rows[0]?.now ?? Number.NaN;
  }

  /** Connects and brings the schema up to date. */
  static async open(options: PostgresOptions, migration: MigrationOptions = {}): Promise<PostgresStore> {
    const pool = openPool(options);
    try {
      await migratePostgres(options, migration);
    } catch (error) {
      await pool.end().catch(() => undefined);
      throw error;
    }
    return new PostgresStore(pool);
  }

  async insert({ id, name, dueAt, value }: Omit<StoredRecord, "version">): Promise<InsertResult> {
    try {
      await this.#pool.query(
        "INSERT INTO records (id, name, version, due_at, value) VALUES ($1, $2, 1, $3, $4)",
        [id, name, dueAt, JSON.stringify(value)],
      );
      this.#teller.tell({ id, version: 1 });
      return "inserted";
    } catch (error) {
      const { code, constraint } = error as { code?: unknown; constraint?: unknown };
      if (code !== UNIQUE_VIOLATION) throw this.#perhaps({ id, version: 1 }, error);
      return constraint === "records_name" ? "name-taken" : "id-taken";
    }
  }

  async get(id: string): Promise<StoredRecord | null> {
    const [found] = await this.#rows(`SELECT ${COLUMNS} FROM records WHERE id = $1`, [id]);
    return found ?? null;
  }

  async findByName(name: string): Promise<StoredRecord | null> {
    const [found] = await this.#rows(`SELECT ${COLUMNS} FROM records WHERE name = $1`, [name]);
    return found ?? null;
  }

  async compareAndSwap(id: string, version: number, { dueAt, value }: RecordChange): Promise<boolean> {
    return this.#write(
      { id, version: version + 1 },
      `UPDATE records SET version = version + 1, due_at = $3, value = $4, claimed_by = NULL, claimed_until = NULL
       WHERE id = $1 AND version = $2`,
      [id, version, dueAt, JSON.stringify(value)],
    );
  }

  async delete(id: string, version: number): Promise<boolean> {
    return this.#write({ id, version: version + 1 }, "DELETE FROM records WHERE id = $1 AND version = $2", [
      id,
      version,
    ]);
  }

  async list({ after, limit }: { after?: string | undefined; limit: number }): Promise<RecordPage> {
    // One more than asked for tells whether there is a next page.
    const rows = await this.#rows(`SELECT ${COLUMNS} FROM records WHERE id > $1 ORDER BY id LIMIT $2`, [
      after ?? "",
      limit + 1,
    ]);
    const items = rows.slice(0, limit);
    return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  /** Rows that another gateway is claiming at this very moment are left to it, and nobody waits for anybody. */
  async claimDue({ now, limit, owner, until, after }: ClaimDue): Promise<readonly StoredRecord[]> {
    const claimed = await this.#rows(
      `WITH free AS (
         SELECT id FROM records
         WHERE due_at <= $1 AND (due_at, id) > ($5, $6)
           AND (claimed_until IS NULL OR claimed_until <= $1 OR claimed_by = $2)
         ORDER BY due_at, id LIMIT $3 FOR UPDATE SKIP LOCKED)
       UPDATE records SET claimed_by = $2, claimed_until = $4 FROM free WHERE records.id = free.id
       RETURNING ${COLUMNS}`,
      [now, owner, limit, until, after?.dueAt ?? Number.MIN_SAFE_INTEGER, after?.id ?? ""],
    );
    return claimed.sort(byDue);
  }

  async earliestDue(): Promise<number | null> {
    const { rows } = await this.#pool.query<{ due_at: number | null }>(
      "SELECT min(due_at) AS due_at FROM records WHERE due_at IS NOT NULL",
    );
    return rows[0]?.due_at ?? null;
  }

  async close(): Promise<void> {
    await this.#teller.done();
    if (!this.#pool.ended) await this.#pool.end();
  }

  /** Whether a row was written; if so, or if nobody knows, everybody who listens hears of it. */
  async #write(change: ToldChange, sql: string, values: readonly unknown[]): Promise<boolean> {
    try {
      const { rowCount } = await this.#pool.query(sql, [...values]);
      if (rowCount !== 1) return false;
    } catch (error) {
      throw this.#perhaps(change, error);
    }
    this.#teller.tell(change);
    return true;
  }

  /** A connection that broke leaves it open whether the write was done. News are a hint to look, which finds out. */
  #perhaps(change: ToldChange, error: unknown): Error {
    this.#teller.tell(change);
    return error as Error;
  }

  async #rows(sql: string, values: readonly unknown[]): Promise<StoredRecord[]> {
    const { rows } = await this.#pool.query<Row>(sql, [...values]);
    return rows.map(({ id, name, version, due_at: dueAt, value }) => ({
      id,
      name,
      version,
      dueAt,
      value: JSON.parse(value) as StoredRecord["value"],
    }));
  }
}
