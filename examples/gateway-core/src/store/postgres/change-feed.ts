import { exponentialBackoff, type Clock } from "slipway";
import pg from "pg";
import { sleep } from "../../sleep.js";
import { parseChange, type ToldChange } from "./change-teller.js";
import { CHANNEL } from "./migrations.js";
import { connectionOptions, type PostgresOptions } from "./pool.js";

export interface ChangeFeedOptions {
  readonly database: PostgresOptions;
  readonly clock: Clock;
  /** Called for each record that somebody wrote. A hint to look: it may come twice, late, or not at all. */
  readonly onChange: (change: ToldChange) => void;
  /** Called when news may have been missed, at the start and after each break: time for a sweep. */
  readonly onGap: () => void;
  readonly onError?: ((error: unknown) => void) | undefined;
  readonly random?: (() => number) | undefined;
}

const backoff = exponentialBackoff({ initialMs: 100, factor: 2, capMs: 5000, jitter: "full" });
const PROBE_EVERY_MS = 10_000;

/** Listens to the database on a connection of its own, and connects anew whenever that one breaks. */
export class ChangeFeed implements AsyncDisposable {
  readonly #options: ChangeFeedOptions;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<void> {
    const { onError, random } = this.#options;
    let failures = 0;
    const onListening = (): void => {
      failures = 0;
    };
    do {
      await this.#listen(onListening).catch((error: unknown) => onError?.(error));
      failures += 1;
    } while (await this.#pause(backoff.delayMs(failures, { random })));
  }

  /** False when the feed is closing. */
  #pause(ms: number): Promise<boolean> {
    return sleep(this.#options.clock, ms, this.#closing.signal).then(
      () => true,
      () => false,
    );
  }

  /** One connection, for as long as it lasts. */
  async #listen(onListening: () => void): Promise<void> {
    const { database, onChange, onGap } = this.#options;
    const client = new pg.Client(connectionOptions(database));
    const broken = new Promise<never>((_, reject) => {
      client.on("error", reject);
      client.on("end", () => reject(new Error("the connection ended")));
    });
    broken.catch(() => undefined);
    client.on("notification", ({ payload }) => {
      const change = parseChange(payload ?? "");
      if (change !== null) onChange(change);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      onListening();
      onGap();
      // A connection that was cut without a word looks like silence: asking tells.
      while (await Promise.race([broken, this.#pause(PROBE_EVERY_MS)])) await client.query("SELECT 1");
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
