import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeBlocks, dataFiles } from "./code-blocks.js";

const root = join(import.meta.dirname, "../..");
/** Below the project, so that `slipway` is resolved as a user of the package does. */
const folder = join(root, "test/docs/.blocks");
const blocks = codeBlocks(root);

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts", "lib.dom.d.ts"],
  types: ["node"],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
};

const fileOf = (index: number, extension: string): string => join(folder, `block-${index}.${extension}`);

/** `expression; // => value` becomes a check that it is so. */
function asserted(code: string): string {
  const checked = code.replace(/^(\s*)(.+?);? \/\/ => (.+)$/gm, "$1assert.deepEqual($2, $3);");
  return `import assert from "node:assert/strict";\n${checked}`;
}

/** Runs the blocks one after the other in one process of their own, which ends although alarms are pending. */
const RUNNER = `
const results = [];
for (let index = 0; index < ${blocks.length}; index += 1) {
  try {
    await import(\`./block-\${index}.mjs\`);
    results.push(null);
  } catch (error) {
    results.push(String(error?.stack ?? error));
  }
}
process.stdout.write("\\n" + JSON.stringify(results), () => process.exit(0));
`;

describe("code in the README, the guides and the doc comments", () => {
  let diagnostics: readonly ts.Diagnostic[] = [];
  let results: (string | null)[] = [];

  beforeAll(() => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const { name, content } of dataFiles(root)) writeFileSync(join(folder, name), content);
    for (const [index, { code, name }] of blocks.entries()) {
      writeFileSync(fileOf(index, "mts"), `${code}\nexport {};\n`);
      const { outputText } = ts.transpileModule(asserted(code), {
        compilerOptions: { ...options, module: ts.ModuleKind.ES2022, noEmit: false },
      });
      writeFileSync(fileOf(index, "mjs"), outputText);
      if (name === undefined) continue;
      writeFileSync(join(folder, name), code);
      writeFileSync(join(folder, name.replace(/\.ts$/, ".js")), outputText);
    }
    const program = ts.createProgram(
      blocks.map((_, index) => fileOf(index, "mts")),
      options,
    );
    diagnostics = ts.getPreEmitDiagnostics(program);
    writeFileSync(join(folder, "run.mjs"), RUNNER);
    const run = spawnSync(process.execPath, ["run.mjs"], { cwd: folder, encoding: "utf8", timeout: 120_000 });
    results = JSON.parse(run.stdout.slice(run.stdout.lastIndexOf("\n") + 1)) as (string | null)[];
  }, 240_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("exists", () => {
    expect(blocks.length).toBeGreaterThan(10);
  });

  it.each(blocks.map(({ where }, index) => [where, index] as const))(
    "%s compiles and runs",
    (_where, index) => {
      const own = diagnostics.filter((diagnostic) =>
        diagnostic.file?.fileName.endsWith(`/block-${index}.mts`),
      );
      expect(own.map((diagnostic) => ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n"))).toEqual(
        [],
      );
      expect(results[index]).toBe(null);
    },
  );
});
