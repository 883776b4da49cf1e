/**
 * Makes a clean clone ready: installs what the lock file names, when it is not there yet, and builds on request.
 * Safe to run again: it does only what is missing.
 *
 *   node scripts/setup.mjs [--build]
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stamp = join(root, "node_modules", ".slipway-setup");

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Slipway needs Node 20.19 or later; this is ${process.versions.node}.`);
  process.exit(1);
}

function npm(args, what) {
  console.log(`> ${what}`);
  const windows = process.platform === "win32";
  const run = spawnSync(windows ? "npm.cmd" : "npm", args, { cwd: root, stdio: "inherit", shell: windows });
  if (run.status !== 0) process.exit(run.status ?? 1);
}

const lock = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .update(process.versions.modules)
  .digest("hex");
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lock) {
  // Nothing that is installed needs a script of its own; the two that would compile something are optional.
  npm(["ci", "--no-fund", "--no-audit", "--ignore-scripts"], "npm ci (once for each lock file)");
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, lock);
}

if (process.argv.includes("--build")) {
  npm(["run", "--silent", "build"], "build slipway");
  npm(["run", "--silent", "build:examples"], "build the examples");
}
