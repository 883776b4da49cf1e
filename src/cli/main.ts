#!/usr/bin/env node
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { run } from "./run.js";

const STANDARD_INPUT = 0;

// Whoever reads this through a pipe may have read enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
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
