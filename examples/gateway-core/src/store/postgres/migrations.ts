import { systemClock, type Clock } from "slipway";
import type pg from "pg";
import { sleep } from "../../sleep.js";
import { NewerStoreError } from "../migrations.js";
import { longStatement } from "./long-statement.js";
import { openPool, transaction, type PostgresOptions } from "./pool.js";

/** The channel on which writes of records are told. */
export const CHANNEL = "slipway_records";

/** Held while the schema changes, by whichever gateway is first. Any number that nobody else uses. */
const LOCK = 4_711_550_300;

/**
 * The schema as a list of steps; a step that was released is never edited. Ids are compared byte by byte, so that a
 * listing has the same order in every locale.
 */
const STEPS: readonly string[] = [
  `CREATE TABLE records (
     id TEXT COLLATE "C" PRIMARY KEY,
     name TEXT COLLATE "C" NOT NULL CONSTRAINT records_name UNIQUE,
     version BIGINT NOT NULL,
     due_at BIGINT,
     value TEXT NOT NULL,
     claimed_by TEXT,
     claimed_until BIGINT
   );
   CREATE INDEX records_due ON records (due_at, id) WHERE due_at IS NOT NULL;
   CREATE FUNCTION records_tell() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     IF TG_OP = 'UPDATE' AND NEW.version = OLD.version THEN RETURN NULL; END IF;
     PERFORM pg_notify('${CHANNEL}', coalesce(NEW.id, OLD.id));
     RETURN NULL;
   END $$;
   CREATE TRIGGER records_told AFTER INSERT OR UPDATE OR DELETE ON records
     FOR EACH ROW EXECUTE FUNCTION records_tell();`,
  `CREATE UNLOGGED TABLE sessions (
     id TEXT COLLATE "C" PRIMARY KEY,
     instance_id TEXT NOT NULL,
     owner TEXT NOT NULL,
     until BIGINT NOT NULL
   );
   CREATE INDEX sessions_owner ON sessions (owner);`,
  `CREATE TABLE activations (
     instance_id TEXT COLLATE "C" PRIMARY KEY,
     version BIGINT NOT NULL,
     entry TEXT NOT NULL
   );`,
  // Transactions that notify commit one after another, each waiting for the disk: the store tells after the write.
  `DROP TRIGGER records_told ON records;
   DROP FUNCTION records_tell();`,
  // What belongs to a record goes with it, in the transaction that removes it, whoever removes it and in whatever way.
  `CREATE FUNCTION records_gone() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     DELETE FROM sessions WHERE id = OLD.id;
     DELETE FROM activations WHERE instance_id >= OLD.id || '/' AND instance_id < OLD.id || '0';
     RETURN NULL;
   END $$;
   CREATE TRIGGER records_gone AFTER DELETE ON records FOR EACH ROW EXECUTE FUNCTION records_gone();
   DELETE FROM sessions WHERE NOT EXISTS (SELECT FROM records WHERE records.id = sessions.id);
   DELETE FROM activations
     WHERE NOT EXISTS (SELECT FROM records WHERE records.id = split_part(activations.instance_id, '/', 1));
   CREATE INDEX sessions_until ON sessions (until);`,
  `CREATE TABLE data_homes (
     driver TEXT COLLATE "C" PRIMARY KEY,
     home TEXT NOT NULL
   );`,
];

/** A step may rewrite a large table, and whoever comes second waits for whoever came first. */
const MIGRATION_MS = 600_000;
const LOCK_AGAIN_MS = 250;
/** A transaction that nobody goes on with holds the lock: the database ends it, long before its host's system would. */
const FORSAKEN_MS = 60_000;

export interface MigrationOptions {
  readonly clock?: Clock | undefined;
  /** Called with the first answer of the database. What it throws ends the migration, before anything is changed. */
  readonly onAnswer?: (() => void) | undefined;
  /** Called once where another gateway is changing the schema, which is waited for. */
  readonly onWait?: (() => void) | undefined;
}

/**
 * Brings the schema up to date. Any number of gateways may do it at once. Whatever the database does, this ends: each
 * statement has the limits of its connection, but for the steps themselves, which are watched.
 */
export async function migratePostgres(
  options: PostgresOptions,
  migration: MigrationOptions = {},
): Promise<void> {
  // One connection for the work, and one to look after it.
  const pool = openPool({ ...options, connections: 2 });
  try {
    await migrateOn(pool, migration);
  } finally {
    await pool.end();
  }
}

async function migrateOn(
  pool: pg.Pool,
  { clock = systemClock, onAnswer, onWait }: MigrationOptions,
): Promise<void> {
  await transaction(pool, async (client) => {
    onAnswer?.();
    await client.query(`SET LOCAL idle_in_transaction_session_timeout = ${FORSAKEN_MS}`);
    await takeLock(client, clock, onWait);
    await client.query("CREATE TABLE IF NOT EXISTS migrations (step INTEGER PRIMARY KEY)");
    const { rows } = await client.query<{ step: number }>(
      "SELECT coalesce(max(step), 0)::int AS step FROM migrations",
    );
    const done = rows[0]?.step ?? 0;
    if (done > STEPS.length) throw new NewerStoreError(done, STEPS.length);
    if (done === STEPS.length) return;
    await client.query(`SET LOCAL statement_timeout = ${MIGRATION_MS}`);
    for (const [index, sql] of STEPS.entries()) {
      if (index < done) continue;
      await longStatement({ pool, client, clock, sql, limitMs: MIGRATION_MS });
      await client.query("INSERT INTO migrations (step) VALUES ($1)", [index + 1]);
    }
  });
}

/** Asked for again and again, so that a connection that dies meanwhile is noticed. It goes with the transaction. */
async function takeLock(client: pg.PoolClient, clock: Clock, onWait?: () => void): Promise<void> {
  const until = clock.now() + MIGRATION_MS;
  for (let turn = 1; ; turn += 1) {
    const { rows } = await client.query<{ taken: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS taken", [
      LOCK,
    ]);
    if (rows[0]?.taken === true) return;
    if (clock.now() >= until)
      throw new Error(`another gateway has been changing the database's schema for ${MIGRATION_MS} ms`);
    if (turn === 1) onWait?.();
    await sleep(clock, LOCK_AGAIN_MS);
  }
}
