/**
 * Records what a command shows on a terminal: as a picture that plays it (NAME.svg) and as text, screen by screen
 * (NAME.txt). Needs `script` of util-linux; `--look FOLDER` also takes pictures of some moments, with Chromium.
 *
 *   node scripts/terminal-recording.mjs NAME [--program WORDS] [--look FOLDER] -- node FILE...
 *
 * `--program` is what stands at the prompt in place of `node FILE`.
 */
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { findChromium, startChromium } from "./chromium.mjs";
import { momentsOf, screensOf } from "./terminal/screen.mjs";
import { svgOf } from "./terminal/svg.mjs";

const COLUMNS = 104;
/** How long the picture plays, however long the run took. */
const LASTS_S = 16;
const MOMENTS = 7;
/** More screens than this make no livelier picture, only a larger one. */
const MOST_SCREENS = 90;

const split = process.argv.indexOf("--");
const command = split === -1 ? [] : process.argv.slice(split + 1);
const { values, positionals } = parseArgs({
  args: process.argv.slice(2, split === -1 ? undefined : split),
  options: { program: { type: "string" }, look: { type: "string" } },
  allowPositionals: true,
});
const [name] = positionals;
if (name === undefined || command.length === 0) {
  console.error("usage: terminal-recording.mjs NAME [--program WORDS] [--look FOLDER] -- node FILE...");
  process.exit(2);
}

const { events, status } = await record(command);
const all = screensOf(events);
const screens = momentsOf(all, MOST_SCREENS);
const program = values.program ?? command.slice(0, 2).join(" ");
const prompt = [program, ...command.slice(2).map(quoted)].join(" ");
await mkdir(dirname(resolve(name)), { recursive: true });
await writeFile(`${name}.svg`, svgOf(screens, { prompt, lastsS: LASTS_S }));
await writeFile(`${name}.txt`, textOf(momentsOf(all, MOMENTS), prompt));
if (values.look !== undefined) await look(`${name}.svg`, values.look);
process.exit(status);

/** Runs the command on a terminal of its own, which this one sees as well. */
async function record(words) {
  const dir = await mkdtemp(join(tmpdir(), "slipway-recording-"));
  try {
    const line = `stty cols ${COLUMNS} rows 30; exec ${words.map(quoted).join(" ")}`;
    const files = ["--log-out", join(dir, "out"), "--log-timing", join(dir, "timing")];
    const ran = spawnSync("script", ["--quiet", "--return", ...files, "--command", line], {
      stdio: "inherit",
    });
    if (ran.error !== undefined) throw ran.error;
    const out = await readFile(join(dir, "out"));
    const timing = await readFile(join(dir, "timing"), "utf8");
    return { events: eventsOf(out.subarray(out.indexOf("\n") + 1), timing), status: ran.status ?? 1 };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The pieces that were written, each with when: the timing says how long after the one before, and how many bytes. */
function eventsOf(out, timing) {
  const decoder = new TextDecoder();
  let [at, offset] = [0, 0];
  return timing
    .trim()
    .split("\n")
    .map((line) => {
      const [delay, bytes] = line.split(" ").map(Number);
      at += delay;
      const text = decoder.decode(out.subarray(offset, offset + bytes), { stream: true });
      offset += bytes;
      return { at, text };
    });
}

function textOf(moments, prompt) {
  const shown = moments.map(({ at, rows }) => [`-- after ${at.toFixed(1)} s`, ...rows].join("\n"));
  return `$ ${prompt}\n\n${shown.join("\n\n")}\n`;
}

function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

async function look(svg, folder) {
  const executable = findChromium();
  if (executable === null) throw new Error("There is no Chromium: install it, or name it in CHROMIUM_PATH.");
  await mkdir(folder, { recursive: true });
  const browser = await startChromium(executable);
  try {
    const page = await browser.newPage({ viewport: { width: 1100, height: 900 } });
    await page.goto(pathToFileURL(resolve(svg)).href);
    for (const share of [0.2, 0.6, 1]) {
      await page.evaluate(
        (seconds) => {
          document.documentElement.pauseAnimations();
          document.documentElement.setCurrentTime(seconds);
        },
        share * LASTS_S + 0.5,
      );
      const path = join(folder, `${basename(svg, ".svg")}-${share * 100}.png`);
      await page.screenshot({ path });
      console.log(path);
    }
  } finally {
    await browser.close();
  }
}
