/**
 * Fuzzes by hand: `npm run fuzz -- --runs 100000 [--seed N] [--target NAME]`. What it finds is added to the corpus.
 */
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    seed: { type: "string", default: String(randomInt(2 ** 31)) },
    target: { type: "string" },
  },
});
for (const name of ["runs", "seed"]) {
  if (!/^\d+$/.test(values[name])) throw new Error(`--${name} must be a whole number, got ${values[name]}`);
}
console.log(`seed ${values.seed}, ${values.runs} inputs for each target`);
const only = values.target === undefined ? [] : ["-t", `fuzzed: ${values.target} `];
const { status } = spawnSync("npx", ["vitest", "run", "fuzz.test.ts", ...only], {
  stdio: "inherit",
  env: { ...process.env, SLIPWAY_FUZZ_RUNS: values.runs, SLIPWAY_FUZZ_SEED: values.seed },
});
process.exitCode = status ?? 1;
