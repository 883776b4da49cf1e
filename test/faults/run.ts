/**
 * The fault bench: three gateways, a load and faults for as long as asked, and the checker's report. Fails when the
 * checker found something, and when less happened than was asked for: a run in which nothing could be lost proves
 * nothing.
 *
 *   npm run faults -- --minutes 5 --seed 7
 */
import { parseArgs } from "node:util";
import { findPostgres } from "../../examples/gateway-core/test/postgres-server.js";
import { runFaults } from "./bench/fault-bench.js";
import { violationLines } from "./bench/report.js";
import { Cleanups } from "./bench/surroundings.js";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string" },
    broken: { type: "string" },
    rate: { type: "string", default: "15" },
    "fault-every-ms": { type: "string", default: "3000" },
    "peace-s": { type: "string", default: "120" },
    logs: { type: "string" },
    "least-operations": { type: "string", default: "0" },
    "least-faults": { type: "string", default: "0" },
    /** Where there is no PostgreSQL, say so and be content. */
    "or-skip": { type: "boolean", default: false },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const found = findPostgres();
if ("missing" in found) {
  console.log(`skipped: ${found.missing}`);
  process.exit(values["or-skip"] ? 0 : 1);
}
const program = (name: string): string => new URL(name, import.meta.url).pathname;
const cleanups = new Cleanups();
for (const event of ["SIGINT", "SIGTERM", "uncaughtException", "unhandledRejection"] as const)
  process.once(event, (why: unknown) => {
    console.error(`seed ${seed} was interrupted:`, why);
    void cleanups.run().then(() => process.exit(1));
  });
const report = await runFaults({
  cleanups,
  seed,
  durationMs: Number(values.minutes) * 60_000,
  postgres: found.bin,
  program:
    values.broken === undefined
      ? program("../../../examples/gateway-core/dist/cli.js")
      : program("broken-gateway.js"),
  env: values.broken === undefined ? {} : { SLIPWAY_BROKEN: values.broken },
  operationsPerSecond: Number(values.rate),
  faultEveryMs: Number(values["fault-every-ms"]),
  peaceLimitMs: Number(values["peace-s"]) * 1000,
  keepLogsIn: values.logs,
  tell: (line) => console.log(line),
});
const { violations, ...figures } = report;
console.log(JSON.stringify(figures, null, 2));
for (const line of violationLines(violations)) console.log(line);
if (violations.length > 0) console.log(`seed ${seed} repeats the schedule of operations and faults`);
const { answered, refused } = figures.operations;
const faults = Object.values(figures.faults).reduce((sum, count) => sum + count, 0);
const little = [
  ["operations with an answer", answered + refused, Number(values["least-operations"])],
  ["faults", faults, Number(values["least-faults"])],
] as const;
for (const [what, count, least] of little)
  if (count < least) console.log(`only ${count} ${what}, at least ${least} are asked for`);
const enough = little.every(([, count, least]) => count >= least);
process.exit(violations.length === 0 && enough ? 0 : 1);
