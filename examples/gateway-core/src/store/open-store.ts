import type { Clock } from "slipway";
import { join } from "node:path";
import type { GatewayLedger } from "../gateway/activations.js";
import { messageOf, type Log } from "../gateway/log.js";
import type { ChangeListener } from "./change-listener.js";
import { ChangeFeed } from "./postgres/change-feed.js";
import { PostgresStore } from "./postgres/postgres-store.js";
import type { RecordStore } from "./record-store.js";
import type { SessionStore } from "./session-store.js";
import { SqliteActivationLedger } from "./sqlite-activation-ledger.js";
import { bindBelongings } from "./sqlite-belongings.js";
import { SqliteStore } from "./sqlite-store.js";
import { watchSqlite } from "./sqlite-watch.js";
import { StoreClock } from "./store-clock.js";

/** A store with what belongs to it: whose time counts, where sessions are kept, and news of others' writes. */
export interface OpenStore extends AsyncDisposable {
  readonly store: RecordStore;
  readonly ledger: GatewayLedger;
  readonly clock: Clock;
  readonly sessionStore?: SessionStore | undefined;
  /** Whether it tells of every write of others, so that nobody needs to look for them. Absent: it does not. */
  readonly tellsOfWrites?: boolean | undefined;
  /** Begins to tell of writes. */
  follow(listener: ChangeListener): void;
}

export interface OpenStoreOptions {
  readonly dataDir: string;
  /** `postgres://...`: a database that gateways share. Absent: a file of this gateway's own. */
  readonly databaseUrl?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a gateway remembers. It closes both when it ends, the ledger first. */
export interface Storage {
  readonly store: RecordStore;
  readonly ledger: GatewayLedger & { close(): Promise<void> };
}

/** Storage that tells of no writes and has no clock of its own. */
export function unshared({ store, ledger }: Storage, clock: Clock): OpenStore {
  return {
    store,
    ledger,
    clock,
    follow: () => undefined,
    async [Symbol.asyncDispose]() {
      await ledger.close();
      await store.close();
    },
  };
}

/** A file that other gateways of this machine may share: a look each second tells whether any of them wrote. */
function openSqlite(path: string, clock: Clock, log: Log): OpenStore {
  const store = new SqliteStore(path);
  const opened = unshared({ store, ledger: new SqliteActivationLedger(path) }, clock);
  bindBelongings(path);
  const closing = new AbortController();
  let watching: Promise<void> = Promise.resolve();
  return {
    ...opened,
    tellsOfWrites: true,
    follow(listener) {
      const onError = (error: unknown): void => log("change-feed", { error: messageOf(error) });
      watching = watchSqlite({ store, clock, signal: closing.signal, listener, onError });
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await watching;
      await opened[Symbol.asyncDispose]();
    },
  };
}

/** Opens the store of a gateway. Replicas that share a database go by the database's clock. */
export async function openStore({ dataDir, databaseUrl, clock, log }: OpenStoreOptions): Promise<OpenStore> {
  if (databaseUrl === undefined) {
    return openSqlite(join(dataDir, "gateway.db"), clock, log);
  }
  const database = { url: databaseUrl };
  const store = await PostgresStore.open(database);
  const storeClock = await StoreClock.start({
    base: clock,
    ask: () => store.now(),
    onError: (error) => log("store-clock", { error: messageOf(error) }),
  });
  let feed: ChangeFeed | null = null;
  return {
    store,
    ledger: store.ledger,
    clock: storeClock,
    sessionStore: store.sessions,
    tellsOfWrites: true,
    follow(listener) {
      feed = new ChangeFeed({
        database,
        clock,
        onChange: (change) => {
          listener
            .noticeChange(change)
            .catch((error: unknown) => log("change-lost", { error: messageOf(error) }));
        },
        onGap: () => listener.noticeGap(),
        onError: (error) => log("change-feed", { error: messageOf(error) }),
      });
    },
    async [Symbol.asyncDispose]() {
      await feed?.close();
      await storeClock.close();
      await store.close();
    },
  };
}
