import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lockText } from "../src/cli/reasons/load-catalog.js";
import type { ReasonCatalog } from "../src/conditions/index.js";
import { definePlan, startAttempt } from "../src/deadline/index.js";

/** The command as a build runs it: its exit code is what fails the build, whatever a catalog's module does. */
const main = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const entry = { types: ["Ready"], class: "terminal", summary: "One of many." } as const;
const catalog: ReasonCatalog = {
  name: "builds",
  contract: 1,
  types: { Ready: { polarity: "positive", presence: "always", summary: "It can be used." } },
  reasons: { Timeout: entry },
  emits: [],
};
const plan = definePlan({ phases: [{ name: "preparation", budgetMs: 1000 }] });
const { state } = startAttempt(plan, { attempt: "a1", now: 0 });
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "slipway-command-line-"));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write("catalog.json", JSON.stringify(catalog));
  write("reasons.lock.json", lockText(catalog));
  const gone = Array.from({ length: 1000 }, (_, at) => [`Gone${at}`, entry]);
  const reasons = { ...catalog.reasons, ...Object.fromEntries(gone) };
  write("many.lock.json", lockText({ ...catalog, reasons }));
  const loads =
    'import { readFileSync } from "node:fs"; export default JSON.parse(readFileSync("catalog.json", "utf8"));';
  write("exits.mjs", "process.exit(0);");
  write("waits.mjs", "export default await new Promise(() => {});");
  write("lies.mjs", `${loads} process.on("exit", () => { process.exitCode = 0; });`);
  write("insists.mjs", `${loads} process.on("exit", () => process.exit(0));`);
  write("exits-lying.mjs", 'process.on("exit", () => { process.exitCode = 0; }); process.exit(0);');
  write("container.json", JSON.stringify([{ State: { Status: "running", Running: true } }]));
  write("deadline.json", JSON.stringify(state));
  write("stays.mjs", `${loads} setInterval(() => {}, 1e6);`);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const check = (...args: string[]) =>
  spawnSync(process.execPath, [main, "reasons", "check", ...args], {
    cwd: folder,
    encoding: "utf8",
    timeout: 60_000,
    maxBuffer: 1e8,
  });

describe("slipway reasons check, as a process", () => {
  it.each(["exits.mjs", "waits.mjs", "exits-lying.mjs"])(
    "has not passed where the catalog ends it: %s",
    (file) => {
      const { status, stdout, stderr } = check("--catalog", file);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toContain("ended from inside");
    },
  );

  it("ends although the catalog left a timer running", () => {
    const { status, stdout } = check("--catalog", "stays.mjs", "--frozen");
    expect([status, stdout]).toEqual([0, "reasons.lock.json is up to date.\n"]);
  });

  it.each(["lies.mjs", "insists.mjs"])(
    "has failed also where an exit handler of the catalog says otherwise: %s",
    (file) => {
      const { status, stdout } = check("--catalog", file, "--lock", "many.lock.json");
      expect(stdout).toMatch(/^breaking: /);
      expect(status).toBe(1);
    },
  );

  it("has failed also for a reader that has read enough", () => {
    const command = `set -o pipefail; "$0" "$1" reasons check --catalog catalog.json --lock many.lock.json | head -n 1`;
    const { status, stdout } = spawnSync("bash", ["-c", command, process.execPath, main], {
      cwd: folder,
      encoding: "utf8",
      timeout: 60_000,
    });
    expect(stdout).toMatch(/^breaking: /);
    expect(status).toBe(1);
  });

  it("prints all of a long answer", () => {
    const { status, stdout } = check("--catalog", "catalog.json", "--lock", "many.lock.json", "--json");
    expect(status).toBe(1);
    expect((JSON.parse(stdout) as { differences: unknown[] }).differences).toHaveLength(1000);
  });
});

/** Runs a command line of the shell, in which `slipway` is the command. */
const shell = (line: string) =>
  spawnSync("bash", ["-c", `set -o pipefail; slipway() { "$node" "$main" "$@"; }; ${line}`], {
    cwd: folder,
    encoding: "utf8",
    timeout: 60_000,
    env: { ...process.env, node: process.execPath, main },
  });

const answers = [
  "reasons list --catalog catalog.json",
  "reasons describe Timeout --catalog catalog.json",
  "reasons check --catalog catalog.json",
  "reasons lock --catalog catalog.json --lock new.lock.json",
  "explain docker container.json",
  "deadline deadline.json --at 500",
  "--help",
  "reasons --help",
  "--version",
];

describe("an answer", () => {
  it.each(answers)("that is written is a success: slipway %s", (line) => {
    const { status, stdout, stderr } = shell(`slipway ${line}`);
    expect([status, stderr, stdout === ""]).toEqual([0, "", false]);
  });

  // Where there is no device that is always full, nothing fails so.
  const full = it.skipIf(!existsSync("/dev/full"));

  full.each(answers)("that could not be written is none: slipway %s", (line) => {
    const { status, stderr } = shell(`slipway ${line} >/dev/full`);
    expect(stderr).toMatch(/^slipway: the output could not be written: ENOSPC/);
    expect(status).toBe(2);
  });

  full("keeps what was found where it could not be written", () => {
    const check = "slipway reasons check --catalog catalog.json --lock many.lock.json";
    expect(shell(`${check} >/dev/full`).status).toBe(1);
    expect(shell("slipway nonsense 2>/dev/full").status).toBe(2);
    expect(shell(`${check} >/dev/full 2>&1`).status).toBe(1);
  });

  it.each(answers)("whose reader has gone is a success still: slipway %s", (line) => {
    // The reader is gone before a word is written.
    const { status, stderr } = shell(`slipway ${line} > >(exec <&-; :) `);
    expect([status, stderr]).toEqual([0, ""]);
  });
});
