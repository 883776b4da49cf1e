import { cp } from "node:fs/promises";
import { defineConfig } from "tsup";

const shared = {
  format: "esm",
  target: "node20",
  sourcemap: true,
  clean: true,
  silent: true,
} as const;

export default defineConfig([
  {
    ...shared,
    entry: ["src/**/*.ts"],
    bundle: false,
    // The live page is served as it is written.
    onSuccess: () => cp("src/page", "dist/page", { recursive: true }),
  },
  {
    // The supervisor with everything that it imports, in one file: an image carries it beside a node binary alone.
    ...shared,
    entry: { supervisor: "src/supervisor.ts" },
    outDir: "bundle",
    outExtension: () => ({ js: ".mjs" }),
    splitting: false,
    sourcemap: false,
    noExternal: [/.*/],
    skipNodeModulesBundle: false,
  },
]);
