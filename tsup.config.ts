import { defineConfig } from "tsup";

const rooms = ["conditions", "deadline", "phase", "progress", "retry", "schema", "testing"];

/**
 * One file an entry and shared chunks between them, so that a class is one class through whichever entry it comes, and
 * an import opens a handful of files and not two hundred (bench/RESULTS.md). Nothing is minified, and maps lead to the
 * sources, which are published as well.
 */
export default defineConfig({
  entry: ["src/index.ts", ...rooms.map((room) => `src/${room}/index.ts`), "src/cli/main.ts"],
  format: "esm",
  target: "node20",
  bundle: true,
  splitting: true,
  treeshake: false,
  sourcemap: true,
  clean: true,
  silent: true,
});
