import type pg from "pg";
import type { ActivationEntry } from "slipway/retry";
import type { GatewayLedger } from "../../gateway/activations.js";

/**
 * The activation ledger in the database that the gateways share: one row for each instance, changed by compare-and-swap
 * only, so that whichever replica a supervisor asks, one start of its workload is granted.
 */
export class PostgresActivationLedger implements GatewayLedger {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async read(instanceId: string): Promise<ActivationEntry | null> {
    const { rows } = await this.#pool.query<{ entry: string }>(
      "SELECT entry FROM activations WHERE instance_id = $1",
      [instanceId],
    );
    // A state of a newer gateway is kept as it is: the rules read it as uncertain.
    return rows[0] === undefined ? null : (JSON.parse(rows[0].entry) as ActivationEntry);
  }

  async compareAndSwap(
    instanceId: string,
    expectedVersion: number | null,
    next: ActivationEntry | null,
  ): Promise<boolean> {
    if (next === null) {
      if (expectedVersion === null) return (await this.read(instanceId)) === null;
      return this.#changes("DELETE FROM activations WHERE instance_id = $1 AND version = $2", [
        instanceId,
        expectedVersion,
      ]);
    }
    const row = [instanceId, next.version, JSON.stringify(next)];
    return expectedVersion === null
      ? this.#changes(
          "INSERT INTO activations (instance_id, version, entry) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
          row,
        )
      : this.#changes(
          "UPDATE activations SET version = $2, entry = $3 WHERE instance_id = $1 AND version = $4",
          [...row, expectedVersion],
        );
  }

  async forget(sandboxId: string): Promise<void> {
    // Everything between "id/" and "id0", the character after the slash.
    await this.#pool.query("DELETE FROM activations WHERE instance_id >= $1 AND instance_id < $2", [
      `${sandboxId}/`,
      `${sandboxId}0`,
    ]);
  }

  async #changes(sql: string, values: readonly unknown[]): Promise<boolean> {
    return (await this.#pool.query(sql, [...values])).rowCount === 1;
  }
}
