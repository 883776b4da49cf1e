/**
 * Tries the package as it is published: packs it, installs the tarball in an empty folder, and there imports every
 * entry with `import` and with `require`, runs the README's first block, and compiles a consumer under strict types.
 * And packs a copy that was never built, as whoever packs a clone does: the same files have to be in it. The example
 * gateways compile and come up on the tarball as well.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { checkExamples, placeExamples } from "./tarball-examples.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "slipway-tarball-"));
const run = (command, args, cwd = folder) =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

function check(holds, what) {
  if (!holds) throw new Error(what);
  console.log(`✓ ${what}`);
}

/** The first TypeScript block of the README, which promises to run as pasted. */
function readmeBlock() {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const block = /```(?:ts|js)\n([\s\S]*?)```/.exec(readme)?.[1];
  if (block === undefined) throw new Error("README.md has no code block");
  return block;
}

/** Every source that a map names is in the tarball, or a debugger shows nothing. */
function sourcesOfMaps(directory) {
  const missing = [];
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".map")) continue;
    const file = join(entry.parentPath, entry.name);
    for (const source of JSON.parse(readFileSync(file, "utf8")).sources) {
      if (!existsSync(join(dirname(file), source))) missing.push(`${relative(directory, file)} -> ${source}`);
    }
  }
  return missing;
}

/** What a build leaves and an installation brings, and what no build reads. */
const notInAClone = new Set([
  "node_modules",
  "dist",
  "coverage",
  "reports",
  ".git",
  ".slipway",
  ".stryker-tmp",
]);

/** The files that `npm pack` puts in the tarball in a clone that was installed and not built. */
function packedByClone() {
  const clone = join(folder, "clone");
  cpSync(root, clone, {
    recursive: true,
    filter: (file) => !notInAClone.has(basename(file)) && file !== join(root, "examples"),
  });
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"), "junction");
  run("npm", ["pack", "--silent", "--pack-destination", clone], clone);
  const tarball = `${manifest.name}-${manifest.version}.tgz`;
  const names = run("tar", ["-tzf", tarball], clone).trim().split("\n");
  return names.map((name) => name.replace(/^package\//, "")).sort();
}

/** Chunks by their number: what their names are made of differs between builds of the same sources now and then. */
function namesOf(files) {
  const names = files.map((name) => name.replace(/chunk-[A-Z0-9]+/, "chunk"));
  return names.sort().join();
}

try {
  const [packed] = JSON.parse(
    run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], root),
  );
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "consumer", private: true, type: "module" }),
  );
  run("npm", ["install", "--no-fund", "--no-audit", "--silent", join(folder, packed.filename)]);

  const entries = Object.keys(manifest.exports).map((entry) => entry.replace(/^\./, manifest.name));
  const code = entries.filter((entry) => !entry.endsWith(".json"));
  for (const entry of code) {
    const esm = run(process.execPath, [
      "-e",
      `import("${entry}").then((m) => console.log(Object.keys(m).sort().join()))`,
    ]);
    const cjs = run(process.execPath, ["-p", `Object.keys(require("${entry}")).sort().join()`]);
    check(
      esm.trim() !== "" && esm.trim() === cjs.trim(),
      `${entry} gives the same names by import and by require`,
    );
  }
  const same = run(process.execPath, [
    "-e",
    `import("slipway").then((m) => console.log(m.SlipwayError === require("slipway").SlipwayError))`,
  ]);
  check(same.trim() === "true", "one class identity for both loaders");

  const installed = join(folder, "node_modules", manifest.name);
  const missing = sourcesOfMaps(join(installed, "dist"));
  check(
    missing.length === 0,
    `every source map finds its source${missing.length > 0 ? `: ${missing.slice(0, 3).join(", ")}` : ""}`,
  );
  const stray = readdirSync(installed, { recursive: true }).filter((name) => /\.test(-d)?\./.test(name));
  check(stray.length === 0, "no test is published");

  const files = packed.files.map(({ path }) => path).sort();
  check(
    files.includes("dist/index.js") && namesOf(packedByClone()) === namesOf(files),
    "`npm pack` in a clone that was never built builds first, and packs the same files",
  );

  writeFileSync(join(folder, "readme.mjs"), readmeBlock());
  check(
    run(process.execPath, ["readme.mjs"]).trim() !== "",
    "the README's first block runs as pasted and prints something",
  );

  mkdirSync(join(folder, "types"));
  const lines = code.map((entry, index) => `import * as entry${index} from "${entry}";\nvoid entry${index};`);
  writeFileSync(join(folder, "types", "consumer.ts"), `${lines.join("\n")}\n${readmeBlock()}`);
  cpSync(join(root, "node_modules", "typescript"), join(folder, "node_modules", "typescript"), {
    recursive: true,
  });
  const flags = "--noEmit --strict --exactOptionalPropertyTypes --module nodenext --target es2022".split(" ");
  const libraries = ["--lib", "es2022,dom", "--skipLibCheck", "false"];
  run(process.execPath, ["node_modules/typescript/bin/tsc", ...flags, ...libraries, "types/consumer.ts"]);
  check(true, "a consumer compiles under strict types, with an ordinary lib and without skipLibCheck");

  checkExamples(placeExamples(root, folder), { folder, run, check });
  console.log(`${packed.filename}: ${packed.size} bytes packed, ${packed.entryCount} files`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
