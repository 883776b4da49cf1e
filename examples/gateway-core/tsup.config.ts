import { cp } from "node:fs/promises";
import { defineConfig } from "tsup";

export default defineConfig({
  entry: ["src/**/*.ts"],
  format: "esm",
  target: "node20",
  bundle: false,
  sourcemap: true,
  clean: true,
  silent: true,
  // The live page is served as it is written.
  onSuccess: () => cp("src/page", "dist/page", { recursive: true }),
});
