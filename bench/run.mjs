/**
 * Runs every benchmark of the library, each in a process of its own, and writes bench/RESULTS.md.
 *
 *   npm run bench [-- --only retry,phase]     with --only nothing is written
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { installPeers } from "./peers.mjs";
import { page } from "./results-page.mjs";

const parts = ["deadlines", "lateness", "retry", "phase", "conditions", "progress", "size", "import"];
const flag = process.argv.indexOf("--only");
const chosen = flag < 0 ? parts : process.argv[flag + 1].split(",");
const run = promisify(execFile);
const folder = installPeers();
const began = performance.now();
const results = [];
const loads = [loadavg()[0]];
for (const part of chosen) {
  const file = join(import.meta.dirname, `${part}.mjs`);
  const { stdout } = await run(process.execPath, ["--expose-gc", file, "--json", "--peers", folder], {
    timeout: 300_000,
    maxBuffer: 1e7,
  });
  results.push({ part, ...JSON.parse(stdout.trim().split("\n").at(-1)) });
  loads.push(loadavg()[0]);
  console.log(`${part}: done after ${Math.round((performance.now() - began) / 1000)} s`);
}
const text = page(results, { loads, seconds: Math.round((performance.now() - began) / 1000) });
if (flag < 0) writeFileSync(join(import.meta.dirname, "RESULTS.md"), text);
else console.log(text);
