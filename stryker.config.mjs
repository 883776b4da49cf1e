/**
 * Mutation testing of the primitives: `npm run mutation -- --mutate "src/deadline/**"`, one room at a time.
 *
 * Only unit and property tests run: those that start processes or servers would run once for each of thousands of
 * mutants. Runs of fast-check draw the same cases each time, so that a mutant's fate does not hang on chance.
 *
 * @type {import("@stryker-mutator/api/core").PartialStrykerOptions}
 */
export default {
  testRunner: "vitest",
  vitest: { configFile: "vitest.mutation.config.ts", related: true },
  mutate: [
    "src/{deadline,retry,phase,conditions,progress}/**/*.ts",
    "!src/**/*.test.ts",
    "!src/**/*.test-d.ts",
    "!src/**/index.ts",
  ],
  coverageAnalysis: "perTest",
  ignoreStatic: true,
  reporters: ["clear-text", "progress-append-only", "json"],
  clearTextReporter: { allowColor: false, reportTests: false },
  jsonReporter: { fileName: "reports/mutation/mutation.json" },
  thresholds: { high: 95, low: 85, break: 85 },
  timeoutMS: 20_000,
  tempDirName: "reports/stryker-tmp",
  ignorePatterns: ["examples", "docs", "bench", "coverage", "dist", "reports"],
};
