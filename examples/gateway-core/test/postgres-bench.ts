import { PostgresStore } from "../src/store/postgres/postgres-store.js";
import { findPostgres, PostgresServer } from "./postgres-server.js";

const found = findPostgres();

/** Why no server can be started here; `null` where one can. */
export const missing = "missing" in found ? found.missing : null;

/** For the titles of tests that are skipped. */
export function because(): string {
  return missing === null ? "" : ` (skipped: ${missing})`;
}

/** A PostgreSQL server for the tests of one file, and what a test has open on it. */
export class PostgresBench {
  /** What is to be closed when the test is over. */
  readonly open: AsyncDisposable[] = [];
  #server: PostgresServer | null = null;

  /** Nothing is started where nothing can be. */
  async start(): Promise<PostgresServer | null> {
    if ("bin" in found) this.#server = await PostgresServer.start(found.bin);
    return this.#server;
  }

  /** The URL of a database with nothing in it. */
  async freshUrl(): Promise<string> {
    if (this.#server === null) throw new Error("no server");
    return this.#server.url(await this.#server.createDatabase());
  }

  async openStore(url: string): Promise<PostgresStore> {
    const store = await PostgresStore.open({ url, connections: 2 });
    this.open.push({ [Symbol.asyncDispose]: () => store.close() });
    return store;
  }

  async closeOpened(): Promise<void> {
    await Promise.allSettled(this.open.splice(0).map((one) => one[Symbol.asyncDispose]()));
  }

  async dispose(): Promise<void> {
    await this.#server?.dispose();
  }
}
