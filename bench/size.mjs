/**
 * What each entry and some sets of exports weigh, minified and brotlied with all that they import, and which modules
 * that is.
 *
 *   node bench/size.mjs [--json] [--peers FOLDER]
 */
import { build } from "esbuild";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { publish } from "./harness.mjs";
import { peersFolder } from "./peers.mjs";
import { measure } from "../scripts/check-size.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const KB = 1000;

/** For a browser, as scripts/check-size.mjs does. A name that an entry lacks is an error of the bundler. */
async function weigh(contents, resolveDir = root) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir, loader: "js" },
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    write: false,
    metafile: true,
    absWorkingDir: root,
  });
  const [output] = Object.values(metafile.outputs);
  const inputs = Object.entries(output.inputs).map(([path, { bytesInOutput }]) => [path, bytesInOutput]);
  return { bytes: brotliCompressSync(outputFiles[0].contents).length, minified: output.bytes, inputs };
}

const entryFile = (entry) => `./src/${entry === "slipway" ? "" : `${entry}/`}index.ts`;
const whole = (entry) => weigh(`export * from ${JSON.stringify(entryFile(entry))};`);
const only = (entry, names) =>
  weigh(`export { ${names.join(", ")} } from ${JSON.stringify(entryFile(entry))};`);

/** A module's noun: its package, or its folder under src with the folder below. */
function groupOf(path) {
  const library = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
  if (library !== undefined) return library;
  const [, ...folders] = relative(root, join(root, path)).split("/");
  return folders.length === 1 ? folders[0] : folders.slice(0, -1).join("/");
}

function byGroup({ inputs, minified }) {
  const groups = new Map();
  for (const [path, bytes] of inputs) groups.set(groupOf(path), (groups.get(groupOf(path)) ?? 0) + bytes);
  return [...groups]
    .filter(([, bytes]) => bytes > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([modules, bytes]) => ({
      modules: `\`${modules}\``,
      "minified bytes": bytes,
      share: `${Math.round((100 * bytes) / minified)} %`,
    }));
}

function heaviest({ inputs, minified }, count) {
  return inputs
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([path, bytes]) => ({
      module: `\`${path.replace(/^.*node_modules\//, "").replace(/^src\//, "")}\``,
      "minified bytes": bytes,
      share: `${Math.round((100 * bytes) / minified)} %`,
    }));
}

const entries = ["conditions", "deadline", "retry", "phase", "progress", "testing", "schema"];
const wholes = Object.fromEntries(
  await Promise.all([...entries, "slipway"].map(async (entry) => [entry, await whole(entry)])),
);

const subsets = [
  ["deadline", ["definePlan", "startAttempt", "applyDeadlineEvent", "readDeadline"]],
  ["deadline", ["definePlan", "PhasedDeadline"]],
  ["retry", ["classify"]],
  ["retry", ["retryBootstrap"]],
  ["retry", ["retryBootstrap", "exponentialBackoff", "permanent", "transient"]],
  ["retry", ["BootstrapRetrier"]],
  ["retry", ["bootstrapSequence"]],
  ["phase", ["allowedOperations"]],
  ["phase", ["derivePhase"]],
  ["phase", ["derivePhase", "allowedOperations"]],
  ["phase", ["derivePhase", "allowedOperations", "reconcileRecord"]],
  ["phase", ["Reconciler"]],
  ["phase", ["observePod"]],
  ["phase", ["observeDockerInspect"]],
];
const weighed = await Promise.all(
  subsets.map(async ([entry, names]) => {
    const { bytes, minified } = await only(entry, names);
    return { entry, exports: names.join(", "), brotli: bytes, minified };
  }),
);

const peers = peersFolder();
const others = {
  "p-retry": [root, 'export { default } from "p-retry";'],
  "cockatiel, retry": [peers, 'export { retry, handleAll, ExponentialBackoff } from "cockatiel";'],
  "async-retry": [peers, 'export { default } from "async-retry";'],
  "exponential-backoff": [peers, 'export { backOff } from "exponential-backoff";'],
  "Effect, Effect and Schedule": [peers, 'export { Effect, Schedule } from "effect";'],
  "XState, createMachine and createActor": [peers, 'export { createMachine, createActor } from "xstate";'],
};
const theirs = await Promise.all(
  Object.entries(others).map(async ([name, [folder, contents]]) => {
    const { bytes, minified } = await weigh(contents, folder);
    return { package: name, brotli: bytes, minified };
  }),
);

const measured = await measure();
const figureOf = ({ entry, name, bytes }, atMost) => ({
  id: `size ${entry} ${name}`,
  figure: `\`slipway/${entry}\`, ${name}`,
  unit: "B",
  values: { slipway: bytes },
  target: { atMost, text: `at most ${atMost / KB} kB` },
});
/** The sets for which the package has a limit. */
const limits = measured.filter(({ limit }) => limit).map((set) => figureOf(set, set.budget));
/** What is over the limit where nothing is left out but the catalog: nobody is to take a set for the whole. */
const wholeConditions = measured
  .filter(({ name }) => name === "the whole entry, without the built-in catalog")
  .map((set) => figureOf(set, 3 * KB));
const target = (entry) => {
  if (!["deadline", "retry", "phase"].includes(entry)) return {};
  return { target: { atMost: 8 * KB, text: "at most 8 kB" } };
};
publish({
  title: "Size, minified and brotlied",
  figures: [
    ...Object.entries(wholes).map(([entry, { bytes }]) => ({
      id: `size ${entry}`,
      figure: `\`${entry === "slipway" ? "slipway" : `slipway/${entry}`}\`, the whole entry`,
      unit: "B",
      values: { slipway: bytes },
      ...target(entry),
    })),
    ...limits,
    ...wholeConditions,
  ],
  tables: [
    { title: "Sets of exports", rows: weighed },
    { title: "Packages that people use today", rows: theirs },
    ...["deadline", "retry", "phase"].flatMap((entry) => [
      { title: `slipway/${entry}, by folder`, rows: byGroup(wholes[entry]) },
      { title: `slipway/${entry}, the heaviest modules`, rows: heaviest(wholes[entry], 10) },
    ]),
  ],
});
