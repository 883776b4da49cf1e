import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "slipway";
import { Gateway } from "../../examples/gateway-core/src/gateway/gateway.js";
import { supervisorRoutes } from "../../examples/gateway-core/src/http/supervisor-routes.js";
import { openStore } from "../../examples/gateway-core/src/store/open-store.js";
import { takeCounts } from "./count-queries.js";
import { MemoryDriver } from "./memory-driver.js";
import { BUDGETS, readyRecords, tokenOf } from "./records.js";
import { postgresStore } from "./scaled-store.js";

const SUPERVISORS = 200;
/** As supervisors ask. */
const WAIT_MS = 20_000;
/** Two rounds of questions. */
const FOR_MS = 2 * WAIT_MS;
const NEVER_MS = 2_000_000_000;

export interface SupervisorsResult {
  readonly supervisors: number;
  /** Reads of records in a second while nothing happens, where nobody tells of writes. */
  readonly untold: number;
  /** The same where the store tells of them. */
  readonly told: number;
}

/** What supervisors that wait for news ask of the store, through the gateway's own routes. */
export async function supervisorReads(): Promise<SupervisorsResult> {
  return { supervisors: SUPERVISORS, untold: await readsASecond(false), told: await readsASecond(true) };
}

async function readsASecond(tellsOfWrites: boolean): Promise<number> {
  await using scaled = await postgresStore();
  const records = readyRecords(0, SUPERVISORS, Date.now());
  await scaled.fill(records);
  const { dataDir, databaseUrl } = scaled;
  const log = (): void => undefined;
  await using opened = await openStore({ dataDir, databaseUrl, clock: systemClock, log });
  const { store, ledger, sessionStore, clock } = opened;
  const driver = new MemoryDriver();
  driver.run(records.map(({ id }) => id));
  const gateway = new Gateway({
    ...{ store, ledger, sessionStore, clock, log, tellsOfWrites, owner: "bench", newId: randomUUID },
    ...{ drivers: [driver], budgets: BUDGETS, gatewayUrl: () => "http://127.0.0.1:1" },
    sweepEveryMs: NEVER_MS,
  });
  await gateway.start();
  opened.follow(gateway);
  const closing = new AbortController();
  const app = supervisorRoutes(gateway, closing.signal);
  const supervisors = records.map(async ({ id, run, configuration }) => {
    const headers = { authorization: `Bearer ${tokenOf(id)}`, "x-slipway-run": String(run) };
    const path = `/${id}/configuration?after=${configuration.generation}&waitMs=${WAIT_MS}`;
    while (!closing.signal.aborted) {
      const { status } = await app.request(path, { headers });
      // As a supervisor does: what failed is asked again.
      if (status >= 500) await delay(500);
      else if (status !== 204) throw new Error(`a supervisor was answered ${status}`);
    }
  });
  // The first round of questions, and the feed's first connection.
  await delay(5000);
  takeCounts();
  await delay(FOR_MS);
  const reads = Object.entries(takeCounts())
    .filter(([kind]) => kind.startsWith("SELECT records.id,"))
    .reduce((sum, [, count]) => sum + count, 0);
  closing.abort();
  await Promise.all(supervisors);
  await gateway.close();
  return (reads * 1000) / FOR_MS;
}
