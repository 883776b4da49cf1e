/** A Chromium that is installed on this machine, for tests and pictures of the example gateway's page. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** The path of its program, or null: CHROMIUM_PATH, or the first of the usual names on PATH. */
export function findChromium() {
  const named = process.env.CHROMIUM_PATH ?? "";
  if (named !== "") return existsSync(named) ? named : null;
  const folders = (process.env.PATH ?? "").split(delimiter);
  const paths = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return paths.find((path) => existsSync(path)) ?? null;
}

/**
 * Starts it without a window. Root may not have Chromium's own sandbox; only the gateway's own pages are opened.
 *
 * @param {string} executablePath
 */
export function startChromium(executablePath) {
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args: [...args, "--disable-gpu", "--disable-dev-shm-usage"] });
}
