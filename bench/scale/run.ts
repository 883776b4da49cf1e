/** See ../scale.mjs. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { Scale, type ExpiryResult, type SweepResult } from "./measure.js";
import { countQueries } from "./count-queries.js";
import { notifyCost } from "./notify.js";
import { supervisorReads } from "./supervisors.js";
import { page, type ScalePart, type StoreResults } from "./page.js";
import { postgresStore, sqliteStore, type ScaledStore } from "./scaled-store.js";

const { values } = parseArgs({
  options: {
    records: { type: "string", default: "100000" },
    due: { type: "string", default: "10000" },
    only: { type: "string" },
    dry: { type: "boolean", default: false },
  },
});
const most = Number(values.records);
const sizes = [most / 100, most / 10, most].map(Math.round);
const loads = [loadavg()[0] ?? 0];
const began = performance.now();
const tell = (line: string): void =>
  console.log(`${Math.round((performance.now() - began) / 1000)} s: ${line}`);

async function measure(open: () => Promise<ScaledStore>): Promise<StoreResults> {
  await using scaled = await open();
  await using scale = new Scale(scaled);
  const sweeps: SweepResult[] = [];
  for (const size of sizes) {
    const result = await scale.sweepOver(size);
    sweeps.push(result);
    tell(`${scaled.name}, a sweep over ${size}: ${JSON.stringify(result)}`);
  }
  const plans = await scaled.plans();
  const expiry: ExpiryResult = await scale.expire(Number(values.due));
  tell(`${scaled.name}, ${values.due} deadlines: ${JSON.stringify(expiry)}`);
  loads.push(loadavg()[0] ?? 0);
  return { name: scaled.name, version: scaled.version, sweeps, expiry, plans };
}

countQueries();
const parts: Record<string, () => Promise<ScalePart>> = {
  sqlite: async () => ({ store: await measure(sqliteStore) }),
  postgres: async () => ({ store: await measure(postgresStore) }),
  supervisors: async () => ({ supervisors: await supervisorReads() }),
  notifications: async () => ({ notify: await notifyCost() }),
};
// Each part is kept, so that one can be measured again without the others.
const kept: ScalePart[] = [];
for (const [name, part] of Object.entries(parts)) {
  const file = new URL(`${name}.json`, import.meta.url);
  if (values.only === undefined || values.only === name) {
    loads.splice(0, loads.length, loadavg()[0] ?? 0);
    const from = performance.now();
    const result = await part();
    loads.push(loadavg()[0] ?? 0);
    const date = new Date().toISOString().slice(0, 10);
    const measured = { ...result, name, date, loads: [...loads], seconds: (performance.now() - from) / 1000 };
    writeFileSync(file, JSON.stringify(measured));
    tell(`${name}: ${JSON.stringify(result)}`);
  }
  if (existsSync(file)) kept.push(JSON.parse(readFileSync(file, "utf8")) as ScalePart);
}
const text = page(kept);
if (values.dry) console.log(text);
else writeFileSync(new URL("../../SCALE.md", import.meta.url), text);
