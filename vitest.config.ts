import { defineConfig } from "vitest/config";
import { SkipReporter } from "./test/skip-reporter.js";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "examples/*/test/**/*.test.ts"],
    // Exhaustive walks and property tests take their time on a busy machine; none of them waits for any.
    testTimeout: 60_000,
    // Hooks start and remove engines, and read and write whole images.
    hookTimeout: 240_000,
    reporters: ["default", new SkipReporter()],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["examples/**", "src/**/*.test.ts", "src/**/*.test-d.ts", "src/index.ts"],
      thresholds: { lines: 95, branches: 95 },
    },
  },
});
