import type { Clock } from "slipway";
import pg from "pg";
import { sleep } from "../../sleep.js";

const LOOK_EVERY_MS = 5000;
/** An answer may be on its way at one look, and at the next one as well where the network is slow. */
const MOST_IDLE_LOOKS = 3;

export interface LongStatementOptions {
  /** Where another connection comes from, which looks at this one. */
  readonly pool: pg.Pool;
  readonly client: pg.PoolClient;
  readonly clock: Clock;
  readonly sql: string;
  /** How long it may take, milliseconds, where the database allows as much. */
  readonly limitMs: number;
}

/**
 * A statement that may take long. Its connection may die without a word meanwhile, which looks the same from here: what
 * the database says of it on another connection tells. One that it has no more, or that waits there for a next statement,
 * will bring no answer.
 *
 * @throws Error `Connection terminated...` for a connection that died so
 */
export async function longStatement(options: LongStatementOptions): Promise<void> {
  const { client, sql, limitMs } = options;
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const ended = new AbortController();
  const statement = { text: sql, query_timeout: limitMs + 1000 };
  try {
    await Promise.race([client.query(statement), died(options, rows[0]?.pid ?? 0, ended.signal)]);
  } finally {
    ended.abort();
  }
}

/** Rejects when the database does not work on the statement any more; never where there is no telling. */
async function died({ pool, clock }: LongStatementOptions, pid: number, signal: AbortSignal): Promise<never> {
  let idle = 0;
  while (idle < MOST_IDLE_LOOKS) {
    const isOver = await sleep(clock, LOOK_EVERY_MS, signal).then(
      () => false,
      () => true,
    );
    if (isOver) return new Promise<never>(() => undefined);
    idle = (await isAtWork(pool, pid)) ? 0 : idle + 1;
  }
  throw new Error("Connection terminated without a word, in the middle of a statement");
}

/** A database that refuses the question, or tells of nobody's work, may be at work. */
async function isAtWork(pool: pg.Pool, pid: number): Promise<boolean> {
  try {
    const { rows } = await pool.query<{ state: string | null }>(
      "SELECT state FROM pg_stat_activity WHERE pid = $1",
      [pid],
    );
    const [found] = rows;
    return found !== undefined && found.state?.startsWith("idle") !== true;
  } catch (error) {
    return error instanceof pg.DatabaseError;
  }
}
