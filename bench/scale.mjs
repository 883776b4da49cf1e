/**
 * A gateway over many sandboxes: how late deadlines are when very many come at once, what a sweep costs, what a live
 * sandbox takes, on SQLite and on PostgreSQL. Writes bench/SCALE.md.
 *
 *   npm run build && node bench/scale.mjs [--records 100000] [--due 10000] [--only sqlite|postgres|supervisors|notifications] [--dry]
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = new URL("scale/", import.meta.url);
const outfile = fileURLToPath(new URL(".built/run.js", here));
await build({
  entryPoints: [fileURLToPath(new URL("run.ts", here))],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  packages: "external",
  logLevel: "warning",
});
const child = spawn(process.execPath, ["--expose-gc", outfile, ...process.argv.slice(2)], {
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => process.exit(code ?? 1));
