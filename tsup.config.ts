import { defineConfig } from "tsup";

/** One source file to one output file: bundling is the consumer's business, and maps stay readable. */
export default defineConfig({
  entry: ["src/**/*.ts", "!src/**/*.test.ts", "!src/**/*.test-d.ts"],
  format: "esm",
  target: "node20",
  bundle: false,
  sourcemap: true,
  clean: true,
  silent: true,
});
