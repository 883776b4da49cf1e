import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import pg from "pg";
import { eachOf } from "../../examples/gateway-core/src/gateway/each-of.js";
import { dueAt } from "../../examples/gateway-core/src/record/due.js";
import type { SandboxRecord } from "../../examples/gateway-core/src/record/record.js";
import type { JsonObject } from "../../examples/gateway-core/src/record/json.js";
import { PostgresStore } from "../../examples/gateway-core/src/store/postgres/postgres-store.js";
import type { RecordStore } from "../../examples/gateway-core/src/store/record-store.js";
import { SqliteStore } from "../../examples/gateway-core/src/store/sqlite-store.js";
import { findPostgres, PostgresServer } from "../../examples/gateway-core/test/postgres-server.js";

/** What a database did so far. */
export interface DatabaseLoad {
  readonly transactions: number;
  /** Of the server's own processes; of an embedded database that is the gateway's. */
  readonly cpuMs: number;
}

/** A store that can be filled at once, and whose database says what it did. */
export interface ScaledStore extends AsyncDisposable {
  readonly name: string;
  readonly version: string;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  fill(records: readonly SandboxRecord[]): Promise<void>;
  load(): Promise<DatabaseLoad>;
  /** Bytes of the records' table with its indexes. */
  bytes(): Promise<number>;
  /** How the database goes about what gateways ask it all the time. */
  plans(): Promise<readonly { readonly what: string; readonly plan: string }[]>;
}

/** Inserts under way at the same time. */
const AT_ONCE = 16;
const TICK_MS = 10;

/** As a gateway inserts them: one decision each, told to everybody who listens. */
async function insertAll(store: RecordStore, records: readonly SandboxRecord[]): Promise<void> {
  await eachOf(records, AT_ONCE, async (record) => {
    const { id, name } = record;
    const inserted = await store.insert({
      ...{ id, name, dueAt: dueAt(record) },
      value: record as unknown as JsonObject,
    });
    if (inserted !== "inserted") throw new Error(`${id}: ${inserted}`);
  });
}

export async function sqliteStore(): Promise<ScaledStore> {
  const dataDir = await mkdtemp(join(tmpdir(), "slipway-scale-"));
  const path = join(dataDir, "gateway.db");
  const store = new SqliteStore(path);
  const database = new Database(path, { timeout: 60_000 });
  const { version } = database.prepare("SELECT sqlite_version() AS version").get() as { version: string };
  return {
    name: "SQLite",
    version: `SQLite ${version}`,
    dataDir,
    databaseUrl: undefined,
    fill: (records) => insertAll(store, records),
    load: () => Promise.resolve({ transactions: Number.NaN, cpuMs: Number.NaN }),
    bytes: async () => {
      database.pragma("wal_checkpoint(TRUNCATE)");
      return (await readFile(path)).length;
    },
    plans: () => Promise.resolve([]),
    async [Symbol.asyncDispose]() {
      database.close();
      await store.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export async function postgresStore(): Promise<ScaledStore> {
  const found = findPostgres();
  if ("missing" in found) throw new Error(found.missing);
  const server = await PostgresServer.start(found.bin);
  const url = server.url(await server.createDatabase());
  const store = await PostgresStore.open({ url });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const dataDir = await mkdtemp(join(tmpdir(), "slipway-scale-"));
  const one = async (sql: string): Promise<string> => {
    const { rows } = await client.query<{ value: string }>(sql);
    return rows[0]?.value ?? "";
  };
  const postmaster = await parentOf(Number(await one("SELECT pg_backend_pid() AS value")));
  return {
    name: "PostgreSQL",
    version: `PostgreSQL ${await one("SELECT current_setting('server_version') AS value")}`,
    dataDir,
    databaseUrl: url,
    fill: (records) => insertAll(store, records),
    async load() {
      const sql = "SELECT xact_commit AS value FROM pg_stat_database WHERE datname = current_database()";
      return { transactions: Number(await one(sql)), cpuMs: await cpuOfFamily(postmaster) };
    },
    bytes: async () => Number(await one("SELECT pg_total_relation_size('records') AS value")),
    async plans() {
      await client.query("VACUUM ANALYZE records");
      const plans = [];
      for (const [what, sql] of QUERIES) {
        const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN ${sql}`);
        const scans = rows.map((row) => row["QUERY PLAN"].trim()).filter((line) => line.includes("Scan"));
        plans.push({ what, plan: scans.map((line) => line.replace(/^->\s*|\s*\(cost.*$/g, "")).join("; ") });
      }
      return plans;
    },
    async [Symbol.asyncDispose]() {
      await client.end();
      await store.close();
      await server.dispose();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const QUERIES = [
  [
    "what is due",
    `SELECT id FROM records WHERE due_at <= 1800000000000 AND (due_at, id) > (0, '')
       AND (claimed_until IS NULL OR claimed_until <= 1800000000000 OR claimed_by = 'me')
     ORDER BY due_at, id LIMIT 200`,
  ],
  ["the earliest due instant", "SELECT min(due_at) FROM records WHERE due_at IS NOT NULL"],
  ["a page of a sweep", "SELECT * FROM records WHERE id > 'sb-00050000' ORDER BY id LIMIT 201"],
  ["one record", "SELECT * FROM records WHERE id = 'sb-00050000'"],
  ["one record by its name", "SELECT * FROM records WHERE name = 'box-50000'"],
] as const;

async function stat(pid: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8");
  // The name may contain anything; what follows the last parenthesis does not.
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

async function parentOf(pid: number): Promise<number> {
  return Number((await stat(pid))[1]);
}

/** CPU time of a process, of its children, and of those that have ended. */
async function cpuOfFamily(parent: number): Promise<number> {
  let ticks = 0;
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const fields = await stat(Number(name)).catch(() => null);
    if (fields === null) continue;
    const own = Number(name) === parent;
    if (!own && Number(fields[1]) !== parent) continue;
    ticks += Number(fields[11]) + Number(fields[12]);
    if (own) ticks += Number(fields[13]) + Number(fields[14]);
  }
  return ticks * TICK_MS;
}
