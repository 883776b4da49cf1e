#!/usr/bin/env node
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { EXIT_BAD_INPUT } from "./command.js";
import { run } from "./run.js";

const STANDARD_INPUT = 0;

// Whoever reads this through a pipe may have read enough. What the command found stays its exit code.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

// A catalog's module runs here too: one that ends the process, or waits for ever, has not passed anything.
let settled = false;
process.on("exit", () => {
  if (settled) return;
  process.stderr.write("slipway: the process was ended from inside before the command was through\n");
  process.exitCode = EXIT_BAD_INPUT;
});

process.exitCode = await run(process.argv.slice(2), {
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
settled = true;

// What a catalog's module left open (a connection, a timer) keeps nobody waiting. Pipes are written first.
process.stdout.write("", () => process.stderr.write("", () => process.exit()));
