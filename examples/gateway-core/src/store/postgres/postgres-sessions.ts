import type pg from "pg";
import type { SessionStore, StoredSession } from "../session-store.js";

interface Row {
  readonly id: string;
  readonly instance_id: string;
  readonly owner: string;
  readonly until: number;
}

/** The sessions of all replicas, in a table without a log of its own: what a crash loses the next contact writes. */
export class PostgresSessions implements SessionStore {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async keepSessions(sessions: readonly StoredSession[]): Promise<void> {
    if (sessions.length === 0) return;
    const columns = [
      sessions.map(({ id }) => id),
      sessions.map(({ instanceId }) => instanceId),
      sessions.map(({ owner }) => owner),
      sessions.map(({ until }) => until),
    ];
    await this.#pool.query(
      `INSERT INTO sessions (id, instance_id, owner, until)
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS given (id, instance_id, owner, until)
       WHERE EXISTS (SELECT FROM records WHERE records.id = given.id)
       ORDER BY id
       ON CONFLICT (id) DO UPDATE SET instance_id = excluded.instance_id, owner = excluded.owner, until = excluded.until
       WHERE sessions.until <= excluded.until`,
      columns,
    );
  }

  async liveSessions(now: number, ids?: readonly string[]): Promise<readonly StoredSession[]> {
    const { rows } = await this.#pool.query<Row>(
      "SELECT id, instance_id, owner, until FROM sessions WHERE until > $1 AND ($2::text[] IS NULL OR id = ANY($2))",
      [now, ids === undefined ? null : [...ids]],
    );
    return rows.map(({ id, instance_id: instanceId, owner, until }) => ({ id, instanceId, owner, until }));
  }

  async sweepSessions(before: number): Promise<void> {
    await this.#pool.query("DELETE FROM sessions WHERE until < $1", [before]);
  }

  async endSessions(owner: string): Promise<void> {
    await this.#pool.query("DELETE FROM sessions WHERE owner = $1", [owner]);
  }
}
