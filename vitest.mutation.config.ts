import { defineConfig } from "vitest/config";

/** The tests that mutation testing runs: fast, without processes, servers or the built package. */
export default defineConfig({
  test: {
    include: [
      "src/{clock,conditions,deadline,phase,progress,retry,schema}/**/*.test.ts",
      "test/{deadline,phase,progress,seeds}/**/*.test.ts",
    ],
    exclude: ["test/phase/guide.test.ts", "test/phase/reconciler-races.test.ts"],
    testTimeout: 60_000,
  },
});
