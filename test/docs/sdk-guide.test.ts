import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dataFiles } from "./code-blocks.js";

/**
 * The blocks of the guide for SDK authors that are not TypeScript, run as they stand, by the programs that their
 * readers would use. The TypeScript is compiled and run with all the rest: code-blocks.test.ts.
 */
const root = join(import.meta.dirname, "../..");
const guide = readFileSync(join(root, "docs/guides/reasons-for-sdk-authors.md"), "utf8");

const programs: Readonly<Record<string, readonly string[]>> = {
  sh: ["sh", "-euc"],
  python: ["python3", "-c"],
  js: [process.execPath, "--input-type=module", "-e"],
};
const needs: Readonly<Record<string, string>> = { sh: "jq", python: "python3", js: process.execPath };

const isHere = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;

/** The answer that the guide promises of every client, where a block is one of them. */
const promised = /Each prints\n`(.+)`/.exec(guide)?.[1];
const clientsEnd = guide.indexOf("## A reason that is not known yet");

const blocks = [...guide.matchAll(/^```(sh|python|js)\n(.*?)^```/gms)].map(
  ({ 1: language = "", 2: code = "", index }) => ({
    language,
    code,
    answer: index < clientsEnd ? promised : undefined,
  }),
);

describe("the guide for SDK authors", () => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-sdk-guide-"));

  beforeAll(() => {
    for (const { name, content } of dataFiles(root)) writeFileSync(join(folder, name), content);
    // The command, where an installed package puts it: `npx` finds it there, and a shell does not.
    const commands = join(folder, "node_modules/.bin");
    mkdirSync(commands, { recursive: true });
    const command = join(commands, "slipway");
    writeFileSync(
      command,
      `#!/bin/sh\nexec "${process.execPath}" "${join(root, "dist/cli/main.js")}" "$@"\n`,
    );
    chmodSync(command, 0o755);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("has a client in every language, and promises the same answer of all", () => {
    expect(promised).toBe("true true false");
    expect(blocks.filter(({ answer }) => answer !== undefined).map(({ language }) => language)).toEqual([
      "sh",
      "python",
      "js",
    ]);
  });

  for (const [index, { language, code, answer }] of blocks.entries()) {
    const need = needs[language] ?? "";
    it.skipIf(!isHere(need))(`block ${index + 1}, ${language}, runs as it stands (needs ${need})`, () => {
      const [program = "", ...args] = programs[language] ?? [];
      // What npm says of its own next version is not the guide's.
      const env = { ...process.env, npm_config_update_notifier: "false" };
      const run = spawnSync(program, [...args, code], { cwd: folder, env, encoding: "utf8" });
      expect(run.stderr).toBe("");
      expect(run.status).toBe(0);
      if (answer !== undefined) expect(run.stdout.trim()).toBe(answer);
    });
  }
});
