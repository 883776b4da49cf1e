import type { Clock } from "slipway";
import { join } from "node:path";
import type { GatewayLedger } from "../gateway/activations.js";
import { messageOf, type Log } from "../gateway/log.js";
import type { ChangeListener } from "./change-listener.js";
import type { DataHomes } from "./data-home.js";
import { ChangeFeed } from "./postgres/change-feed.js";
import { PostgresStore } from "./postgres/postgres-store.js";
import type { RecordStore } from "./record-store.js";
import type { SessionStore } from "./session-store.js";
import { SqliteActivationLedger } from "./sqlite-activation-ledger.js";
import { bindBelongings } from "./sqlite-belongings.js";
import { SqliteStore } from "./sqlite-store.js";
import { watchSqlite } from "./sqlite-watch.js";
import { StoreClock, type StoreClockOptions } from "./store-clock.js";

/** A store with what belongs to it: whose time counts, where sessions are kept, and news of others' writes. */
export interface OpenStore extends AsyncDisposable {
  readonly store: RecordStore;
  readonly ledger: GatewayLedger;
  readonly clock: Clock;
  readonly sessionStore?: SessionStore | undefined;
  /** Whether it tells of every write of others, so that nobody needs to look for them. Absent: it does not. */
  readonly tellsOfWrites?: boolean | undefined;
  /** Where it is noted by which data directory sandboxes are found. Absent: the store is in it, or it is no matter. */
  readonly dataHomes?: DataHomes | undefined;
  /** Begins to tell of writes. */
  follow(listener: ChangeListener): void;
  /** The gateway begins to end: nothing is waited for any more that the store cannot do now. */
  ending(): void;
}

export interface OpenStoreOptions {
  readonly dataDir: string;
  /** `postgres://...`: a database that gateways share. Absent: a file of this gateway's own. */
  readonly databaseUrl?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with the first answer of a database. What it throws ends the opening. */
  readonly onAnswer?: (() => void) | undefined;
}

/** What a gateway remembers. It closes both when it ends, the ledger first. */
export interface Storage {
  readonly store: RecordStore;
  readonly ledger: GatewayLedger & { close(): Promise<void> };
  /**
   * What time the store has, where gateways share it: all of them decide by it, whatever their hosts' clocks say.
   * Absent: this gateway is the only one, and goes by its host's clock.
   */
  readonly askTime?: StoreClockOptions["ask"] | undefined;
  /** Time between two questions for the time. Default 30 000. */
  readonly askTimeEveryMs?: number | undefined;
  /** Where gateways that share the store tell one another of their supervisors. Absent: there is no other. */
  readonly sessionStore?: SessionStore | undefined;
  /**
   * Whether `follow` tells of every write of others, and raises doubt for as long as it cannot, so that nobody needs to
   * look for them. Absent: it does not.
   */
  readonly tellsOfWrites?: boolean | undefined;
  /** Where it is noted by which data directory sandboxes are found. Absent: one store has one, or its drivers need none. */
  readonly dataHomes?: DataHomes | undefined;
  /** Begins to tell of writes that others made, until the store is closed. Absent: nobody else writes. */
  readonly follow?: ((listener: ChangeListener) => void) | undefined;
  /** The gateway begins to end: what the store would wait for fails from now on. Absent: it never waits for long. */
  readonly ending?: (() => void) | undefined;
}

/** What the next step of opening makes; what is open already is closed where that fails, for nobody else can do it. */
async function orClose<T>(close: () => Promise<void>, next: () => T | Promise<T>): Promise<T> {
  try {
    return await next();
  } catch (error) {
    // What went wrong first is what is told.
    await close().catch(() => undefined);
    throw error;
  }
}

/** Opens storage that was made elsewhere: by its own time where it has one. */
export async function openStorage(storage: Storage, hostClock: Clock, log: Log): Promise<OpenStore> {
  const { store, ledger, askTime: ask, askTimeEveryMs: askEveryMs, tellsOfWrites } = storage;
  const closeBoth = async (): Promise<void> => {
    await ledger.close();
    await store.close();
  };
  const onError = (error: unknown): void => log("store-clock", { error: messageOf(error) });
  const storeClock =
    ask === undefined
      ? null
      : await orClose(closeBoth, () => StoreClock.start({ base: hostClock, ask, askEveryMs, onError }));
  return {
    store,
    ledger,
    clock: storeClock ?? hostClock,
    sessionStore: storage.sessionStore,
    tellsOfWrites,
    dataHomes: storage.dataHomes,
    follow: (listener) => storage.follow?.(listener),
    ending: () => storage.ending?.(),
    async [Symbol.asyncDispose]() {
      await storeClock?.close();
      await closeBoth();
    },
  };
}

/** A file that other gateways of this machine may share: a look each second tells whether any of them wrote. */
async function openSqlite(path: string, clock: Clock, log: Log): Promise<OpenStore> {
  const store = new SqliteStore(path);
  const ledger = await orClose(
    () => store.close(),
    () => new SqliteActivationLedger(path),
  );
  const opened = await openStorage({ store, ledger }, clock, log);
  await orClose(
    async () => opened[Symbol.asyncDispose](),
    () => bindBelongings(path),
  );
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
export async function openStore(options: OpenStoreOptions): Promise<OpenStore> {
  const { dataDir, databaseUrl, clock, log, onAnswer } = options;
  if (databaseUrl === undefined) {
    return openSqlite(join(dataDir, "gateway.db"), clock, log);
  }
  const database = { url: databaseUrl };
  const store = await PostgresStore.open(database, {
    clock,
    onAnswer,
    onWait: () => log("start-waits", { why: "another gateway changes the database's schema" }),
  });
  const storeClock = await orClose(
    () => store.close(),
    () =>
      StoreClock.start({
        base: clock,
        ask: () => store.now(),
        onError: (error) => log("store-clock", { error: messageOf(error) }),
      }),
  );
  let feed: ChangeFeed | null = null;
  return {
    store,
    ledger: store.ledger,
    clock: storeClock,
    sessionStore: store.sessions,
    tellsOfWrites: true,
    dataHomes: store.dataHomes,
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
    ending: () => undefined,
    async [Symbol.asyncDispose]() {
      await feed?.close();
      await storeClock.close();
      await store.close();
    },
  };
}
