import { defineConfig } from "tsup";

export default defineConfig({
  entry: ["src/**/*.ts"],
  format: "esm",
  target: "node20",
  bundle: false,
  sourcemap: true,
  clean: true,
  silent: true,
});
