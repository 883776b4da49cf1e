/**
 * Measures what the entries cost a browser: bundled by esbuild with all they import, minified, compressed with brotli,
 * in bytes.
 *
 *   node scripts/check-size.mjs
 *
 * ADR 4, point 10, says which sets of exports the two limits of `slipway/conditions` hold for. Every other set has a budget of its own, so that
 * none grows unseen; a new export of the entry falls into the sets of the runtime by itself.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** The built-in catalog and its words: data. */
const data = ["sandboxReasons", "ReasonV1", "ReasonV2"];
/** What a catalog's author calls, in a build or a test. */
const authoring = ["defineReasonCatalog", "extendCatalog", "compareCatalogs"];
/** What a gateway calls that keeps conditions. */
const writing = [
  "setCondition",
  "removeCondition",
  "mergeConditions",
  "stateIsolationMismatch",
  "transitionTime",
];
/** What works on a catalog, given any. */
const converting = ["convertConditions", "readContract", "describeReason"];

/** OpenShell's names for steps and fields, for whoever speaks its protocol. */
const openShell = [
  "OpenShellProgressKey",
  "openShellStepEvents",
  "openShellStepNames",
  "openShellSteps",
  "readOpenShellProgress",
  "toOpenShellProgress",
];

const not =
  (...sets) =>
  (name) =>
    !sets.flat().includes(name);

/** The sets of exports with their budgets in bytes. Those marked `limit` are the limits of the package. */
const conditions = [
  {
    name: "all that reads, given any catalog, without the built-in one",
    keep: not(data, authoring, writing),
    bytes: 3000,
    limit: true,
  },
  {
    name: "all but the authoring tools, with the built-in catalog",
    keep: not(authoring),
    bytes: 9000,
    limit: true,
  },
  {
    name: "all that reads and writes lists, without any catalog",
    keep: not(data, authoring, converting, "stateIsolationMismatch"),
    bytes: 3310,
  },
  {
    name: "all but the authoring tools, without the built-in catalog",
    keep: not(data, authoring),
    bytes: 4190,
  },
  { name: "the authoring tools alone", keep: (name) => authoring.includes(name), bytes: 7850 },
  { name: "the whole entry, without the built-in catalog", keep: not(data), bytes: 11_200 },
  { name: "the whole entry", keep: () => true, bytes: 15_950 },
];

/** What the other entries cost. bench/RESULTS.md says what they are made of, and where that is more than is wanted. */
const others = [
  { entry: "deadline", name: "the whole entry", keep: () => true, bytes: 12_760 },
  { entry: "retry", name: "the whole entry", keep: () => true, bytes: 25_720 },
  { entry: "phase", name: "the whole entry", keep: () => true, bytes: 26_720 },
  { entry: "progress", name: "all but OpenShell's words", keep: not(openShell), bytes: 8000, limit: true },
  { entry: "progress", name: "the whole entry", keep: () => true, bytes: 9000 },
];

const budgets = [...conditions.map((set) => ({ entry: "conditions", ...set })), ...others];

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
  const known = [data, authoring, writing, converting].flat();
  const files = new Map();
  for (const { entry } of budgets) {
    const file = join(root, `src/${entry}/index.ts`);
    if (!files.has(entry)) files.set(entry, { file, names: await exportsOf(file) });
  }
  for (const [entry, expected] of [
    ["conditions", known],
    ["progress", openShell],
  ]) {
    const unknown = expected.filter((name) => !files.get(entry).names.includes(name));
    if (unknown.length > 0) throw new Error(`slipway/${entry} does not export ${unknown.join(", ")}`);
  }
  const sizes = budgets.map(async ({ entry, name, keep, bytes, limit = false }) => {
    const { file, names } = files.get(entry);
    return { entry, name, limit, budget: bytes, bytes: await sizeOf(file, names.filter(keep)) };
  });
  return Promise.all(sizes);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { entry, name, limit, budget, bytes } of await measure()) {
    const verdict = bytes <= budget ? "ok" : "TOO LARGE";
    const kind = limit ? "limit" : "budget";
    console.log(`slipway/${entry}, ${name}: ${bytes} bytes, ${kind} ${budget}: ${verdict}`);
    if (bytes > budget) process.exitCode = 1;
  }
}
