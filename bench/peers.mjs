/**
 * The libraries that people use today, in versions that run on every Node that Slipway supports. They are installed
 * into a temporary folder when a benchmark needs them: as dependencies of the repository they would be in every
 * contributor's lock file and audit for the sake of a comparison.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** cockatiel 4 needs Node 22. p-retry is Slipway's own dependency, in the version that it uses. */
export const versions = {
  cockatiel: "3.2.1",
  "async-retry": "1.3.3",
  "exponential-backoff": "3.1.3",
  effect: "4.1.0",
  xstate: "5.33.3",
};

const root = fileURLToPath(new URL("..", import.meta.url));

export function pRetryVersion() {
  return JSON.parse(readFileSync(join(root, "node_modules/p-retry/package.json"), "utf8")).version;
}

/** Installs all of them, and gives the folder, which is removed when the process ends. */
export function installPeers() {
  const folder = mkdtempSync(join(tmpdir(), "slipway-peers-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const packages = Object.entries(versions).map(([name, version]) => `${name}@${version}`);
  const options = ["--no-fund", "--no-audit", "--no-package-lock", "--ignore-scripts", "--silent"];
  execFileSync("npm", ["install", ...options, ...packages], { cwd: folder, stdio: "inherit" });
  // A file beside them imports by name, as an application does.
  for (const name of Object.keys(versions))
    writeFileSync(join(folder, `${name}.mjs`), `export * as peer from "${name}";\n`);
  return folder;
}

/** The folder with the peers: the one that `npm run bench` gives to all its parts with --peers, or a new one. */
export function peersFolder() {
  const flag = process.argv.indexOf("--peers");
  return flag < 0 ? installPeers() : process.argv[flag + 1];
}

export async function loadPeer(folder, name) {
  const { peer } = await import(pathToFileURL(join(folder, `${name}.mjs`)).href);
  return peer;
}
