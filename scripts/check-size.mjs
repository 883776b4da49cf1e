/**
 * Measures what `slipway/conditions` and `slipway/progress` cost a browser: bundled, minified and compressed with
 * brotli.
 *
 *   node scripts/check-size.mjs
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Tools of a catalog's author; a client or a gateway that uses the built-in catalog does not load them. */
const authoring = ["defineReasonCatalog", "extendCatalog", "compareCatalogs"];
/** What speaks the built-in catalog's words, or needs a catalog to work on. */
const catalog = [
  "sandboxReasons",
  "ReasonV1",
  "ReasonV2",
  "stateIsolationMismatch",
  "convertConditions",
  "readContract",
  "describeReason",
];

/** The limits in bytes. `keep` says which exports of the entry somebody imports. */
const budgets = [
  {
    entry: "conditions",
    name: "without the built-in catalog",
    limit: 3000,
    keep: (name) => !authoring.includes(name) && !catalog.includes(name),
  },
  {
    entry: "conditions",
    name: "with the built-in catalog",
    limit: 9000,
    keep: (name) => !authoring.includes(name),
  },
  {
    entry: "progress",
    name: "without OpenShell's vocabulary",
    limit: 8000,
    keep: (name) => !/openshell/i.test(name),
  },
  { entry: "progress", name: "whole", limit: 9000, keep: () => true },
  { entry: "progress", name: "formatStep alone", limit: 1000, keep: (name) => name === "formatStep" },
];

async function exportsOf(entry) {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    write: false,
    metafile: true,
  });
  return Object.values(metafile.outputs)[0].exports;
}

/** Size in bytes of a bundle that holds these exports of an entry. */
async function sizeOf(entry, names) {
  const contents = `export { ${names.join(", ")} } from ${JSON.stringify(entry)};`;
  const result = await build({
    stdin: { contents, resolveDir: root, loader: "ts" },
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    write: false,
  });
  return brotliCompressSync(result.outputFiles[0].contents).length;
}

export async function measure() {
  const sizes = budgets.map(async ({ entry, name, limit, keep }) => {
    const file = join(root, `src/${entry}/index.ts`);
    const names = await exportsOf(file);
    return { entry, name, limit, bytes: await sizeOf(file, names.filter(keep)) };
  });
  return Promise.all(sizes);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { entry, name, limit, bytes } of await measure()) {
    const verdict = bytes <= limit ? "ok" : "TOO LARGE";
    console.log(`slipway/${entry} ${name}: ${bytes} of ${limit} bytes (minified, brotli): ${verdict}`);
    if (bytes > limit) process.exitCode = 1;
  }
}
