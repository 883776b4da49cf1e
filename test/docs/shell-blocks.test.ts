import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/**
 * What a reader who pastes a shell block into a terminal stumbles over, found without running it: most of the blocks
 * need a cluster, an engine or a database.
 */
const root = join(import.meta.dirname, "../..");
const markdownIn = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);
const documents = [
  "README.md",
  ...markdownIn("docs/guides"),
  ...readdirSync(join(root, "examples")).flatMap((name) => markdownIn(`examples/${name}`)),
].map((file) => {
  const text = readFileSync(join(root, file), "utf8");
  return { file, blocks: [...text.matchAll(/^( *)```sh\n(.*?)^\1```/gms)].map(([, , code = ""]) => code) };
});

/** The commands without what is quoted literally, and without comments. */
const bare = (code: string): string => code.replace(/'[^']*'/g, "''").replace(/(^|\s)#.*$/gm, "$1");
const linesOf = (code: string): string[] =>
  bare(code)
    .replace(/\\\n/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "");

/** The shell's own, of every reader. */
const given = new Set(["PWD", "HOME", "PATH"]);

describe.each(documents.filter(({ blocks }) => blocks.length > 0))(
  "the shell blocks of $file",
  ({ blocks }) => {
    it("are what a shell can read", () => {
      for (const code of blocks)
        expect(spawnSync("bash", ["-n", "-c", code], { encoding: "utf8" }).stderr).toBe("");
    });

    it("call no program of this project that is on nobody's path", () => {
      const called = blocks.flatMap((code) =>
        linesOf(code).filter((line) => /(^|[|;&(] *)slipway(-gateway\S*)?\s/.test(line.trim())),
      );
      expect(called).toEqual([]);
    });

    it("use no variable that the document does not set", () => {
      const all = blocks.map(bare).join("\n");
      const set = new Set([...all.matchAll(/\b([A-Za-z_]\w*)=/g)].map(([, name]) => name ?? ""));
      const used = [...all.matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(([, name]) => name ?? "");
      expect(used.filter((name) => !set.has(name) && !given.has(name))).toEqual([]);
    });

    it("have nothing after a server in the foreground, which never comes back", () => {
      for (const code of blocks) {
        const lines = linesOf(code);
        const server = lines.findIndex(
          (line) => /\sserve\s/.test(line) && !/(?<!&)&\s*(\w+=\$!)?\s*$/.test(line),
        );
        expect(lines.slice(server < 0 ? lines.length : server + 1)).toEqual([]);
      }
    });
  },
);
