import pg from "pg";
import { isBroken } from "./away.js";

export interface PostgresOptions {
  /** A connection URL, `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Connections of this process. Default 10. */
  readonly connections?: number | undefined;
  /** Longest wait for a connection and for one answer: a database that hangs is one that is away. Default 5000. */
  readonly timeoutMs?: number | undefined;
}

const INT8 = 20;
const CONNECTIONS = 10;
const TIMEOUT_MS = 5000;

/** Instants and versions are far below 2^53, and are numbers everywhere else. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    (oid as number) === INT8 && format !== "binary"
      ? Number
      : (pg.types.getTypeParser(oid, format) as (text: string) => unknown),
};

/** How every connection of a gateway to its database is made. */
export function connectionOptions({ url, timeoutMs = TIMEOUT_MS }: PostgresOptions): pg.ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    // Both ends give up: the server on a statement, and this side on a server that does not answer at all.
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs + 1000,
    keepAlive: true,
    application_name: "slipway-gateway",
    types,
  };
}

/** Whether the client can read it. Files that it names are another matter: what is wrong with them is said as it is. */
export function isPostgresUrl(url: string): boolean {
  try {
    new pg.Client({ connectionString: url });
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code !== "ERR_INVALID_URL";
  }
}

export function openPool(options: PostgresOptions): pg.Pool {
  const pool = new pg.Pool({ ...connectionOptions(options), max: options.connections ?? CONNECTIONS });
  // An idle connection that breaks is replaced by the next query, which tells whoever needs to know.
  pool.on("error", () => undefined);
  return pool;
}

/**
 * Runs the work in one transaction, which ends with it either way.
 *
 * @throws what went wrong first: of a connection that broke, why it did, and not that it is of no use any more
 */
export async function transaction<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let failed: Error | undefined;
  // A connection that breaks between two statements fails the next one. Unheard, its event would end the process.
  const hear = (error: Error): void => {
    failed ??= error;
  };
  client.on("error", hear);
  try {
    await client.query("BEGIN");
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    // A broken connection has ended the transaction, and one that is dead would only be waited for once more.
    const mayAsk = failed === undefined && !isBroken(error);
    failed ??= error as Error;
    if (mayAsk) await client.query("ROLLBACK").catch(() => undefined);
    throw failed;
  } finally {
    // A connection on which something failed may be in any state: it is closed, not handed on.
    client.release(failed);
    client.off("error", hear);
  }
}
