import type pg from "pg";
import { CHANNEL } from "./migrations.js";

const TRIES = 3;

/** A write as it is told to everybody who listens. */
export interface ToldChange {
  readonly id: string;
  /** The version that was written; one more than the last for a removal. */
  readonly version: number;
}

/**
 * Tells of writes that were committed, many in one statement while one is under way.
 *
 * In a transaction of its own: one that notifies holds a lock that the whole server has once, until it has committed,
 * so that a write which told of itself would wait for the flush of every other one. News are lost when this process or
 * the connection ends between a write and them: no decision waits for news, and a live page shows the next write.
 */
export class ChangeTeller {
  readonly #pool: pg.Pool;
  #untold = new Map<string, number>();
  #telling: Promise<void> | null = null;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  tell({ id, version }: ToldChange): void {
    this.#untold.set(id, version);
    this.#telling ??= this.#run();
  }

  /** Resolves when everything that is to be told was told, or could not be. */
  async done(): Promise<void> {
    await this.#telling;
  }

  async #run(): Promise<void> {
    // Whoever writes in the same moment goes into the same statement.
    await Promise.resolve();
    while (this.#untold.size > 0) {
      const payloads = [...this.#untold].map(([id, version]) => payloadOf({ id, version }));
      this.#untold = new Map();
      await this.#notify(payloads);
    }
    this.#telling = null;
  }

  /** A connection that broke is replaced by another one; where there is none at all, those who listen have lost theirs. */
  async #notify(payloads: readonly string[]): Promise<void> {
    for (let tries = 1; tries <= TRIES; tries += 1) {
      try {
        await this.#pool.query("SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS given (payload)", [
          CHANNEL,
          payloads,
        ]);
        return;
      } catch {
        // Told twice is no harm.
      }
    }
  }
}

function payloadOf({ id, version }: ToldChange): string {
  return `${version} ${id}`;
}

/** What a payload tells, `null` for one that is none of ours. */
export function parseChange(payload: string): ToldChange | null {
  const [, version, id] = /^(\d+) (.+)$/s.exec(payload) ?? [];
  return id === undefined ? null : { id, version: Number(version) };
}
