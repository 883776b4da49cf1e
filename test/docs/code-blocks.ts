import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A block of TypeScript in a document or a doc comment. */
export interface CodeBlock {
  /** File and line, for whoever has to mend it. */
  readonly where: string;
  readonly code: string;
  /** The file that it is to be saved as, where other blocks import it. */
  readonly name?: string | undefined;
}

/** A file that a guide shows, for its other blocks to read. */
export interface DataFile {
  readonly name: string;
  readonly content: string;
}

/** The blocks of JSON in the guides that have a file name. */
export function dataFiles(root: string): DataFile[] {
  return guidesIn(root).flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const found = text.matchAll(/^```json (\S+)\n(.*?)^```/gms);
    return [...found].map(([, name = "", content = ""]) => ({ name, content }));
  });
}

/** Every block of TypeScript in the README, the guides, and the doc comments of the sources. */
export function codeBlocks(root: string): CodeBlock[] {
  const sources = filesIn(root, "src").filter((file) => file.endsWith(".ts") && !file.includes(".test"));
  return ["README.md", ...guidesIn(root), ...sources].flatMap((file) => blocksOf(root, file));
}

function guidesIn(root: string): string[] {
  return filesIn(root, "docs/guides").filter((file) => file.endsWith(".md"));
}

function filesIn(root: string, folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return names.map((name) => `${folder}/${name.replaceAll("\\", "/")}`).sort();
}

function blocksOf(root: string, file: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { line: number; lines: string[]; name: string | undefined } | null = null;
  for (const [index, raw] of readFileSync(`${root}/${file}`, "utf8").split("\n").entries()) {
    const line = file.endsWith(".ts") ? raw.replace(/^\s*\* ?/, "") : raw;
    if (open === null) {
      const fence = /^```ts\b *(\S+\.ts)?/.exec(line);
      if (fence !== null) open = { line: index + 2, lines: [], name: fence[1] };
    } else if (line.startsWith("```")) {
      blocks.push({ where: `${file}:${open.line}`, code: open.lines.join("\n"), name: open.name });
      open = null;
    } else {
      open.lines.push(line);
    }
  }
  return blocks;
}
