#!/usr/bin/env node
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { EXIT_BAD_INPUT, EXIT_OK } from "./command.js";
import { run } from "./run.js";

const STANDARD_INPUT = 0;

// Whoever reads this through a pipe may have read enough. What the command found stays its exit code.
let unwritten: NodeJS.ErrnoException | undefined;
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") unwritten ??= error;
  });
}

// A catalog's module runs here too: one that ends the process, or waits for ever, has not passed anything. To end from
// the first listener leaves out the others, so that none of the module's has the last word.
let found: number | undefined;
process.on("exit", () => {
  if (found === undefined)
    process.stderr.write("slipway: the process was ended from inside before the command was through\n");
  process.exit(found ?? EXIT_BAD_INPUT);
});

const code = await run(process.argv.slice(2), {
  read: (path) => readFileSync(path === "-" ? STANDARD_INPUT : path, "utf8"),
  write: (path, text) => writeFileSync(path, text),
  load: async (path) => (await import(pathToFileURL(resolve(path)).href)) as Record<string, unknown>,
  print: (line) => process.stdout.write(`${line}\n`),
  complain: (line) => process.stderr.write(`${line}\n`),
  now: () => Date.now(),
  version: () => {
    const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    return (JSON.parse(manifest) as { version: string }).version;
  },
});
found = code;

// What a catalog's module left open (a connection, a timer) keeps nobody waiting. Pipes are written first, and a write
// that failed is told in the turn after it.
process.stdout.write("", () => process.stderr.write("", () => setImmediate(end)));

function end(): void {
  if (unwritten !== undefined) {
    // An answer that nobody got is no success, whatever it was.
    found = code === EXIT_OK ? EXIT_BAD_INPUT : code;
    process.stderr.write(`slipway: the output could not be written: ${unwritten.message}\n`);
  }
  process.exit(found);
}
