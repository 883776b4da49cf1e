import type pg from "pg";
import type { DataHomes } from "../data-home.js";

/** By which data directory each driver's sandboxes are found, in the database that gateways share. */
export class PostgresDataHomes implements DataHomes {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async noted(driver: string): Promise<string | null> {
    const { rows } = await this.#pool.query<{ home: string }>(
      "SELECT home FROM data_homes WHERE driver = $1",
      [driver],
    );
    return rows[0]?.home ?? null;
  }

  /** In one statement: what a second one read might be gone by then. */
  async claim(driver: string, home: string): Promise<string> {
    const { rows } = await this.#pool.query<{ home: string }>(
      `INSERT INTO data_homes (driver, home) VALUES ($1, $2)
         ON CONFLICT (driver) DO UPDATE SET home = data_homes.home RETURNING home`,
      [driver, home],
    );
    const noted = rows[0]?.home;
    if (noted === undefined) throw new Error("the database did not take the name of the data directory");
    return noted;
  }
}
