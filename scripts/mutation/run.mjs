/**
 * Mutation testing of one room, or of some of its files:
 *
 *     npm run mutation -- deadline
 *     npm run mutation -- conditions condition-list.ts catalog/compare-reason.ts
 *
 * Only the tests of the room run. Fates are kept in `reports/mutation/ROOM.incremental.json`, so that a second run
 * tries only what is new: mutants of changed code, and survivors whose tests changed. `--force` forgets the fates of
 * the files that are named. The summary covers every file that has fates, not only those of this run.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { force: { type: "boolean" }, survivors: { type: "boolean" } },
});
const [room, ...files] = positionals;
if (room === undefined || !existsSync(`src/${room}`)) {
  console.error("usage: npm run mutation -- ROOM [FILE…] [--force] [--survivors]");
  process.exit(2);
}
const fates = `reports/mutation/${room}.incremental.json`;
mkdirSync("reports/mutation", { recursive: true });

const patterns = files.length === 0 ? [`src/${room}/**/*.ts`] : files.map((file) => `src/${room}/${file}`);
const run = spawnSync(
  "npx",
  [
    ...["stryker", "run", "--incremental", "--incrementalFile", fates, "--mutate"],
    [...patterns, "!src/**/*.test.ts", "!src/**/*.test-d.ts", "!src/**/index.ts"].join(","),
    ...(values.force ? ["--force"] : []),
  ],
  { stdio: "inherit", env: { ...process.env, MUTATION_ROOM: room } },
);
if (!existsSync(fates)) process.exit(run.status ?? 1);

const counted = new Set(["Killed", "Timeout", "Survived", "NoCoverage"]);
const report = JSON.parse(readFileSync(fates, "utf8"));
const rows = [];
const total = { file: room, killed: 0, alive: 0, ignored: 0 };
for (const [file, { mutants, source }] of Object.entries(report.files)) {
  const row = { file, killed: 0, alive: 0, ignored: 0 };
  for (const { status, mutatorName, location, replacement } of mutants) {
    const kind = counted.has(status) ? (/^(Killed|Timeout)$/.test(status) ? "killed" : "alive") : "ignored";
    row[kind] += 1;
    total[kind] += 1;
    if (kind !== "alive" || !values.survivors) continue;
    const line = source.split("\n")[location.start.line - 1].trim();
    console.log(
      `${file}:${location.start.line} ${mutatorName} ${status}\n    ${line}\n    -> ${replacement}`,
    );
  }
  rows.push(row);
}
for (const { file, killed, alive, ignored } of [...rows.sort((a, b) => (a.file < b.file ? -1 : 1)), total]) {
  const score = killed + alive === 0 ? "-" : `${((100 * killed) / (killed + alive)).toFixed(1)} %`;
  console.log(`| ${file} | ${killed + alive} | ${killed} | ${alive} | ${ignored} | ${score} |`);
}
process.exit(run.status ?? 1);
