#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { run } from "./run.js";

const STANDARD_INPUT = 0;

process.exitCode = run(process.argv.slice(2), {
  read: (path) => readFileSync(path === "-" ? STANDARD_INPUT : path, "utf8"),
  print: (line) => process.stdout.write(`${line}\n`),
  complain: (line) => process.stderr.write(`${line}\n`),
  now: () => Date.now(),
});
