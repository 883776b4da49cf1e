/**
 * Mutation testing of the primitives, one room at a time: see docs/mutation.md.
 *
 * What runs at load only (tables of constants) is left out, as no test can be picked for it.
 *
 * @type {import("@stryker-mutator/api/core").PartialStrykerOptions}
 */
export default {
  plugins: ["./scripts/mutation/runner.mjs"],
  testRunner: "in-process",
  coverageAnalysis: "perTest",
  ignoreStatic: true,
  concurrency: 1,
  reporters: ["progress-append-only"],
  timeoutMS: 30_000,
  tempDirName: "reports/stryker-tmp",
  ignorePatterns: ["biome.json", "examples", "docs", "bench", "coverage", "dist", "reports"],
};
