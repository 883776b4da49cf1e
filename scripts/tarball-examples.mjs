/**
 * The example gateways as their readers would have them: beside an installed tarball, which they import by its name.
 * Their other packages are the repository's own.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";

const SCOPE = "@slipway-examples";

/** Puts the built examples into a folder in which `slipway` is installed; their names. */
export function placeExamples(root, folder) {
  const names = readdirSync(join(root, "examples")).filter((name) =>
    existsSync(join(root, "examples", name, "package.json")),
  );
  mkdirSync(join(folder, "node_modules", SCOPE), { recursive: true });
  for (const name of names) {
    const place = join(folder, "examples", name);
    cpSync(join(root, "examples", name), place, {
      recursive: true,
      filter: (file) => !["node_modules", "test", "data"].includes(basename(file)),
    });
    symlinkSync(place, join(folder, "node_modules", SCOPE, name), "junction");
    const own = join(root, "examples", name, "node_modules");
    if (existsSync(own)) symlinkSync(own, join(place, "node_modules"), "junction");
  }
  for (const entry of readdirSync(join(root, "node_modules"))) {
    const place = join(folder, "node_modules", entry);
    if (!existsSync(place)) symlinkSync(join(root, "node_modules", entry), place, "junction");
  }
  cpSync(join(root, "tsconfig.base.json"), join(folder, "tsconfig.base.json"));
  const { extends: base, compilerOptions } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"));
  const include = ["examples/*/src"];
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ extends: base, compilerOptions, include }));
  return names;
}

/** Compiles the examples against the tarball's declarations, and runs what they are started by. */
export function checkExamples(names, { folder, run, check }) {
  const installed = join(realpathSync(folder), "node_modules", "slipway");
  for (const name of names) {
    const place = join(folder, "examples", name);
    const found = run(process.execPath, ["-p", `require.resolve("slipway")`], place);
    check(found.trim().startsWith(installed), `${name} finds the tarball by the package's name`);
    if (existsSync(join(place, "dist", "cli.js")))
      check(run(process.execPath, ["dist/cli.js", "--help"], place).includes("serve"), `${name} runs on it`);
  }
  run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json"]);
  check(true, "the example gateways compile against the tarball's declarations");
}
