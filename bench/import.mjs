/**
 * What importing an entry costs over an empty module, each in a process of its own, beside the same code in one file
 * and the packages that people use today.
 *
 *   npm run build && node bench/import.mjs [--json] [--peers FOLDER]
 */
import { build } from "esbuild";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { interleave, publish } from "./harness.mjs";
import { peersFolder, versions } from "./peers.mjs";

const ROUNDS = 5;
const root = fileURLToPath(new URL("..", import.meta.url));
const { exports: entries, dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "slipway-import-"));
const run = promisify(execFile);
const probe = `const before = process.cpuUsage();
await import(process.argv[2]);
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1000);
`;

const file = (name, contents) => {
  writeFileSync(join(folder, name), contents);
  return pathToFileURL(join(folder, name)).href;
};

try {
  const peers = peersFolder();
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  file("probe.mjs", probe);
  const bundle = async (name, external) => {
    const outfile = join(folder, name);
    await build({
      entryPoints: [join(root, "dist/index.js")],
      bundle: true,
      platform: "node",
      format: "esm",
      external,
      outfile,
    });
    return pathToFileURL(outfile).href;
  };
  // As src imports them: of one a file, and zod only in `slipway/schema`.
  const runtime = Object.keys(dependencies)
    .filter((name) => name !== "zod")
    .map((name) => (name === "abort-controller-x" ? `${name}/lib/execute.js` : name));
  const targets = {
    empty: file("empty.mjs", "export {};"),
    ...Object.fromEntries(
      Object.entries(entries)
        .filter(([name]) => !name.endsWith(".json"))
        .map(([name, { default: path }]) => [
          name.replace(/^\./, "slipway"),
          pathToFileURL(join(root, path)).href,
        ]),
    ),
    "the root entry's dependencies alone": file(
      "dependencies.mjs",
      runtime.map((name) => `import "${name}";`).join("\n"),
    ),
    "the root entry in one file, dependencies apart": await bundle("apart.mjs", Object.keys(dependencies)),
    "the root entry in one file with its dependencies": await bundle("whole.mjs", []),
    "p-retry": file("p-retry.mjs", 'import "p-retry";'),
    ...Object.fromEntries(
      Object.keys(versions).map((name) => [name, pathToFileURL(join(peers, `${name}.mjs`)).href]),
    ),
  };
  const contenders = Object.fromEntries(
    Object.entries(targets).map(([name, url]) => [
      name,
      async () =>
        Number((await run(process.execPath, [join(folder, "probe.mjs"), url], { cwd: folder })).stdout),
    ]),
  );
  const { empty, ...ms } = await interleave(contenders, { rounds: ROUNDS, warmUp: false });
  const over = (name) => ms[name] - empty;
  const isEntry = (name) => name.startsWith("slipway");
  publish({
    title: "Import, over an empty module",
    figures: Object.keys(ms)
      .filter(isEntry)
      .map((name) => ({
        id: `import ${name}`,
        figure: `import of \`${name}\``,
        unit: "ms",
        values: { slipway: over(name) },
        ...(name === "slipway" && { target: { atMost: 15, text: "at most 15 ms" } }),
      })),
    tables: [
      {
        title: "What else an import costs, over an empty module",
        rows: Object.keys(ms)
          .filter((name) => !isEntry(name))
          .map((name) => ({ import: name, "ms of CPU": over(name).toFixed(1) })),
      },
    ],
    notes: [`An empty module costs ${empty.toFixed(1)} ms itself.`],
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
