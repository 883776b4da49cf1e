import fc from "fast-check";
import { systemClock } from "slipway";
import { lstat, mkdir, readFile, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { pack as packTar } from "tar-stream";
import { expect } from "vitest";
import { fuzz, bytes } from "../../../test/fuzz/fuzz.js";
import { ByteMeter } from "../src/driver/image/byte-meter.js";
import { ImageRoot } from "../src/driver/image/image-root.js";
import { EscapingEntryError } from "../src/driver/image/safe-path.js";
import { EmptyArchiveError, unpackTar, UnreadableArchiveError } from "../src/driver/image/unpack-tar.js";
import type { TarItem } from "./images.js";
import { tempDir } from "./temp-dir.js";

const signal = new AbortController().signal;
const MAX_BYTES = 100_000;

/** Unpacked or refused for good; whatever is there afterwards is inside, leads inside, and is no larger than allowed. */
async function law(archive: Buffer): Promise<void> {
  const dir = await tempDir();
  const rootfs = join(dir, "inner", "rootfs");
  await mkdir(rootfs, { recursive: true });
  await writeFile(join(dir, "inner", "outside"), "untouched");
  await writeFile(join(dir, "image.tar"), archive);
  const meter = new ByteMeter({ clock: systemClock, signal, reportEveryMs: 1000, report: () => undefined });
  try {
    const limits = { maxBytes: MAX_BYTES, signal };
    await unpackTar(join(dir, "image.tar"), new ImageRoot(rootfs), meter, limits);
  } catch (error) {
    const isDocumented =
      error instanceof EscapingEntryError ||
      error instanceof EmptyArchiveError ||
      error instanceof UnreadableArchiveError;
    if (!isDocumented) throw error;
    expect(error.message.length).toBeLessThan(1000);
  }
  expect((await readdir(dir)).sort()).toEqual(["image.tar", "inner"]);
  expect((await readdir(join(dir, "inner"))).sort()).toEqual(["outside", "rootfs"]);
  expect(await readFile(join(dir, "inner", "outside"), "utf8")).toBe("untouched");
  let total = 0;
  for (const name of await readdir(rootfs, { recursive: true })) {
    const path = join(rootfs, name);
    const found = await lstat(path);
    expect(found.isFile() || found.isDirectory() || found.isSymbolicLink()).toBe(true);
    expect(found.mode & 0o7000).toBe(0);
    if (found.isFile()) total += found.size / found.nlink;
    if (!found.isSymbolicLink()) continue;
    const target = resolve(dirname(path), await readlink(path));
    expect(relative(rootfs, target).startsWith("..")).toBe(false);
  }
  expect(total).toBeLessThanOrEqual(MAX_BYTES);
  await rm(dir, { recursive: true, force: true });
}

const part = fc.constantFrom("a", "b", "c", "..", ".", "", "x".repeat(300), "\\", "C:", "é", "\0");
const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
const item: fc.Arbitrary<TarItem> = fc.record({
  name: path,
  type: fc.constantFrom(
    ...(["file", "directory", "symlink", "link", "fifo", "character-device", "contiguous-file"] as const),
  ),
  linkname: path,
  mode: fc.constantFrom(0o644, 0o7777, 0),
  content: fc.constantFrom("", "text", "0".repeat(60_000)),
});

/** Entries of any kind, then a few bytes that are others: headers have checksums, so most of these end in the middle. */
const inputs = fc
  .record({
    items: fc.array(item, { maxLength: 6 }),
    flips: fc.array(fc.record({ at: fc.nat({ max: 8000 }), to: fc.nat({ max: 255 }) }), { maxLength: 3 }),
    mend: fc.boolean(),
    cut: fc.option(fc.nat({ max: 8000 }), { freq: 6 }),
    zipped: fc.boolean(),
  })
  .map(({ items, flips, mend, cut, zipped }) => {
    const archive = tarOf(items);
    for (const { at, to } of flips) if (at < archive.length) archive[at] = to;
    if (mend) mendChecksums(archive);
    const whole = zipped ? gzipSync(archive, { level: 1 }) : archive;
    return cut === null ? whole : whole.subarray(0, cut);
  });

function tarOf(items: readonly TarItem[]): Buffer {
  const pack = packTar();
  for (const { content, ...header } of items) {
    // A packer refuses what a hostile one would write.
    const hasContent = header.type === "file" || header.type === "contiguous-file";
    pack.entry({ ...header, name: header.name || "a" }, hasContent ? (content ?? "") : "");
  }
  pack.finalize();
  const chunks: Buffer[] = [];
  for (let chunk = pack.read() as Buffer | null; chunk !== null; chunk = pack.read() as Buffer | null)
    chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Makes every block that is nearly a header a valid one, whatever else was changed in it. */
function mendChecksums(archive: Buffer): void {
  for (let at = 0; at + 512 <= archive.length; at += 512) {
    const block = archive.subarray(at, at + 512);
    if (!block.subarray(257, 262).equals(Buffer.from("ustar"))) continue;
    block.fill(" ", 148, 156);
    const sum = block.reduce((total, byte) => total + byte, 0);
    block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  }
}

fuzz<Buffer>({
  name: "archives",
  corpus: new URL("fuzz/corpus/", import.meta.url),
  codec: { ...bytes, ending: ".tar" },
  inputs,
  law,
  runs: 150,
});
