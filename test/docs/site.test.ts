import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Application, TSConfigReader, type ProjectReflection } from "typedoc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

/** Files that are named and titled in every way that this project's are. */
const files: Readonly<Record<string, string>> = {
  "index.ts": "/** One. */\nexport const one = 1;\n",
  "other.ts": "/** Two. */\nexport const two = 2;\n",
  "README.md": "# gateway-core\n\nA gateway.\n",
  "generated.md": "<!-- Generated. -->\n\n# What a failure means\n\n# Later\n",
  "titled.md": "---\ntitle: Deadlines\n---\n\n# Something else\n",
  "bare.md": "No heading.\n",
  "tsconfig.json": '{ "compilerOptions": { "types": [] }, "files": ["index.ts", "other.ts"] }',
};

describe("the documentation site", () => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-site-"));
  let project: ProjectReflection | undefined;

  beforeAll(async () => {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const app = await Application.bootstrapWithPlugins(
      {
        entryPoints: ["index.ts", "other.ts"].map((name) => join(folder, name)),
        tsconfig: join(folder, "tsconfig.json"),
        projectDocuments: [join(folder, "*.md")],
        plugin: [join(root, "scripts/typedoc-plugin.mjs")],
        logLevel: "Error",
        readme: "none",
        disableSources: true,
      },
      [new TSConfigReader()],
    );
    project = await app.convert();
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("names a page by its title, else by its first heading", () => {
    expect(project?.documents?.map(({ name }) => name).sort()).toEqual([
      "Deadlines",
      "What a failure means",
      "bare",
      "gateway-core",
    ]);
  });

  it("calls the main entry what it is imported as", () => {
    expect(project?.children?.map(({ name }) => name).sort()).toEqual(["other", "slipway"]);
  });
});
