import type pg from "pg";
import { decodeRecord } from "../../../examples/gateway-core/src/record/record-schema.js";
import { openPool } from "../../../examples/gateway-core/src/store/postgres/pool.js";
import { PostgresStore } from "../../../examples/gateway-core/src/store/postgres/postgres-store.js";
import type { Version } from "../checker/history.js";

/** Told in the transaction of the write itself: what was not committed is not in it, and nothing that was is missing. */
const SCHEMA = `
  CREATE TABLE fault_history (
    seq BIGSERIAL PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL,
    op TEXT NOT NULL,
    version BIGINT NOT NULL,
    at FLOAT8 NOT NULL,
    value TEXT
  );
  CREATE INDEX fault_history_id ON fault_history (id, seq);
  CREATE FUNCTION fault_history_write() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'UPDATE' AND NEW.version = OLD.version AND NEW.value = OLD.value THEN RETURN NULL; END IF;
    INSERT INTO fault_history (id, op, version, at, value)
    VALUES (coalesce(NEW.id, OLD.id), lower(TG_OP), coalesce(NEW.version, OLD.version),
            extract(epoch FROM clock_timestamp()) * 1000, CASE TG_OP WHEN 'DELETE' THEN NULL ELSE NEW.value END);
    RETURN NULL;
  END $$;
  CREATE TRIGGER fault_history_written AFTER INSERT OR UPDATE OR DELETE ON records
    FOR EACH ROW EXECUTE FUNCTION fault_history_write();`;

interface Row {
  readonly op: Version["op"];
  readonly version: number;
  readonly at: number;
  readonly value: string | null;
}

type Client = pg.PoolClient;

/** All committed versions as of one moment, whatever is written meanwhile. */
export class Recording {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async ids(): Promise<readonly string[]> {
    const { rows } = await this.#client.query<{ id: string }>(
      "SELECT DISTINCT id FROM fault_history ORDER BY id",
    );
    return rows.map(({ id }) => id);
  }

  /** @throws CorruptRecordError for a version that cannot be read */
  async versionsOf(id: string): Promise<readonly Version[]> {
    const { rows } = await this.#client.query<Row>(
      "SELECT op, version, at, value FROM fault_history WHERE id = $1 ORDER BY seq",
      [id],
    );
    return rows.map(({ op, version, at, value }) => ({
      op,
      version,
      at,
      record: value === null ? null : decodeRecord(id, JSON.parse(value)),
    }));
  }

  /** The version of each record that there is. */
  async stored(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.#client.query<{ id: string; version: number }>(
      "SELECT id, version FROM records",
    );
    return new Map(rows.map(({ id, version }) => [id, version]));
  }
}

/** Keeps every committed version of every record of one database. */
export class Recorder {
  readonly #url: string;

  private constructor(url: string) {
    this.#url = url;
  }

  /** Makes the store's schema and, before anybody writes, the history beside it. */
  static async install(url: string): Promise<Recorder> {
    const store = await PostgresStore.open({ url });
    await store.close();
    const recorder = new Recorder(url);
    await recorder.#connected((client) => client.query(SCHEMA));
    return recorder;
  }

  /** Reads what was committed up to now, records and history as of one and the same moment. */
  read<T>(work: (recording: Recording) => Promise<T>): Promise<T> {
    return this.#connected(async (client) => {
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      const result = await work(new Recording(client));
      await client.query("COMMIT");
      return result;
    });
  }

  async #connected<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const pool = openPool({ url: this.#url, connections: 1, timeoutMs: 60_000 });
    try {
      const client = await pool.connect();
      try {
        return await work(client);
      } finally {
        client.release(true);
      }
    } finally {
      await pool.end();
    }
  }
}
