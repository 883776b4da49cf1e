import pg from "pg";
import { ChangeTeller } from "../../examples/gateway-core/src/store/postgres/change-teller.js";
import { PostgresStore } from "../../examples/gateway-core/src/store/postgres/postgres-store.js";
import { findPostgres, PostgresServer } from "../../examples/gateway-core/test/postgres-server.js";

const CONNECTIONS = 16;
const FOR_MS = 5000;

export interface NotifyResult {
  /** Writes in a second that a server which flushes each of them takes from 16 connections, as gateways make them. */
  readonly told: number;
  /** The same with the notification in the transaction of the write. */
  readonly within: number;
  /** The same without any. */
  readonly silent: number;
}

const WITHIN = `
  CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN PERFORM pg_notify('elsewhere', NEW.id); RETURN NULL; END $$;
  CREATE TRIGGER told AFTER UPDATE ON records FOR EACH ROW EXECUTE FUNCTION tell();`;

/** What it costs that every write is told. */
export async function notifyCost(): Promise<NotifyResult> {
  const found = findPostgres();
  if ("missing" in found) throw new Error(found.missing);
  const server = await PostgresServer.start(found.bin, "-c fsync=on -c synchronous_commit=on");
  try {
    const url = server.url(await server.createDatabase());
    const store = await PostgresStore.open({ url, connections: CONNECTIONS });
    for (let lane = 0; lane < CONNECTIONS; lane += 1)
      await store.insert({ id: `sb-${lane}`, name: `box-${lane}`, dueAt: null, value: {} });
    const versions = Array.from({ length: CONNECTIONS }, () => 1);
    await writesFor(store, versions);
    const told = await writesFor(store, versions);
    const { tell } = ChangeTeller.prototype;
    ChangeTeller.prototype.tell = () => undefined;
    const silent = await writesFor(store, versions);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(WITHIN);
    await client.end();
    const within = await writesFor(store, versions);
    ChangeTeller.prototype.tell = tell;
    await store.close();
    return { told, within, silent };
  } finally {
    await server.dispose();
  }
}

async function writesFor(store: PostgresStore, versions: number[]): Promise<number> {
  const until = performance.now() + FOR_MS;
  let writes = 0;
  const value = { text: "x".repeat(2000) };
  const lane = async (index: number): Promise<void> => {
    while (performance.now() < until) {
      await store.compareAndSwap(`sb-${index}`, versions[index] ?? 0, { dueAt: null, value });
      versions[index] = (versions[index] ?? 0) + 1;
      writes += 1;
    }
  };
  await Promise.all(versions.map((_, index) => lane(index)));
  return (writes * 1000) / FOR_MS;
}
