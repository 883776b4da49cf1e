import { systemClock } from "slipway";
import { lstat, mkdir, readFile, readlink, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ByteMeter } from "../src/driver/image/byte-meter.js";
import { ImageRoot } from "../src/driver/image/image-root.js";
import { unpackTar } from "../src/driver/image/unpack-tar.js";
import { pathsBelow, tarImage, type TarItem } from "./images.js";
import { tempDir } from "./temp-dir.js";

const signal = new AbortController().signal;

async function unpack(archive: string, rootfs: string, maxBytes = 1e9): Promise<number[]> {
  const positions: number[] = [];
  const meter = new ByteMeter({
    clock: systemClock,
    signal,
    reportEveryMs: 0,
    report: (position) => positions.push(position),
  });
  await unpackTar(archive, new ImageRoot(rootfs), meter, { maxBytes, signal });
  return positions;
}

async function prepared(
  items: readonly TarItem[],
  name = "image.tar",
): Promise<{ archive: string; rootfs: string }> {
  const dir = await tempDir();
  const rootfs = join(dir, "inner", "rootfs");
  await mkdir(rootfs, { recursive: true });
  await writeFile(join(dir, "outside"), "untouched");
  await tarImage(join(dir, name), items);
  return { archive: join(dir, name), rootfs };
}

describe("unpacking an archive", () => {
  for (const name of ["image.tar", "image.tar.gz"]) {
    it(`writes files, directories and links of a ${name}, and counts bytes of the archive`, async () => {
      const { archive, rootfs } = await prepared(
        [
          { name: "./", type: "directory" },
          { name: "./bin/tool", mode: 0o4755, content: "#!/bin/sh\n" },
          { name: "lib/", type: "directory", mode: 0o555 },
          { name: "lib/data", content: "x".repeat(100_000) },
          { name: "lib/tool", type: "symlink", linkname: "../bin/tool" },
          { name: "tool", type: "link", linkname: "bin/tool" },
        ],
        name,
      );
      const positions = await unpack(archive, rootfs);
      expect(await pathsBelow(rootfs)).toEqual(["bin", "bin/tool", "lib", "lib/data", "lib/tool", "tool"]);
      expect((await stat(join(rootfs, "bin/tool"))).mode & 0o7777).toBe(0o755);
      expect(await readlink(join(rootfs, "lib/tool"))).toBe("../bin/tool");
      expect(await readFile(join(rootfs, "tool"), "utf8")).toBe("#!/bin/sh\n");
      expect(positions).toEqual([...positions].sort((a, b) => a - b));
      expect(positions.at(-1)).toBe((await stat(archive)).size);
    });
  }

  const escapes: Record<string, readonly TarItem[]> = {
    "a path with ..": [{ name: "../outside", content: "x" }],
    "a path with .. in the middle": [{ name: "a/../../outside", content: "x" }],
    "an absolute path": [{ name: "/tmp/outside", content: "x" }],
    "a backslash": [{ name: "..\\outside", content: "x" }],
    "an absolute link": [{ name: "a", type: "symlink", linkname: "/etc/passwd" }],
    "a link that climbs out": [{ name: "a/b", type: "symlink", linkname: "../../outside" }],
    "a link that climbs out behind another link": [
      { name: "x/y/here", type: "symlink", linkname: "." },
      { name: "x/y/out", type: "symlink", linkname: "here/../../.." },
    ],
    "a file through a link": [
      { name: "a", type: "symlink", linkname: "b" },
      { name: "a/file", content: "x" },
    ],
    "a hard link to a link": [
      { name: "a", type: "symlink", linkname: "b" },
      { name: "c", type: "link", linkname: "a" },
    ],
    "a hard link to itself": [
      { name: "a", content: "x" },
      { name: "./a", type: "link", linkname: "a" },
    ],
    "a hard link out": [{ name: "a", type: "link", linkname: "../../outside" }],
    "a device": [{ name: "null", type: "character-device", devmajor: 1, devminor: 3 }],
    "a named pipe": [{ name: "pipe", type: "fifo" }],
    "a file in place of a directory": [
      { name: "a/", type: "directory" },
      { name: "a", content: "x" },
    ],
  };
  for (const [what, items] of Object.entries(escapes)) {
    it(`refuses ${what}`, async () => {
      const { archive, rootfs } = await prepared(items);
      await expect(unpack(archive, rootfs)).rejects.toThrow(/is refused/);
      expect(await readFile(join(rootfs, "..", "..", "outside"), "utf8")).toBe("untouched");
      expect(await pathsBelow(join(rootfs, ".."))).not.toContain("outside");
    });
  }

  it("replaces a link by a file of the same name instead of writing through it", async () => {
    const { archive, rootfs } = await prepared([
      { name: "target", content: "old" },
      { name: "a", type: "symlink", linkname: "target" },
      { name: "a", content: "new" },
    ]);
    await unpack(archive, rootfs);
    expect((await lstat(join(rootfs, "a"))).isFile()).toBe(true);
    expect(await readFile(join(rootfs, "target"), "utf8")).toBe("old");
  });

  it("refuses contents beyond the limit, however small the archive is", async () => {
    const { archive, rootfs } = await prepared(
      [{ name: "zeros", content: "0".repeat(50_000) }],
      "image.tar.gz",
    );
    await expect(unpack(archive, rootfs, 49_999)).rejects.toThrow("larger than the driver's limit");
  });

  for (const name of ["image.tar", "image.tar.gz"]) {
    it(`refuses a ${name} that ends early`, async () => {
      const { archive, rootfs } = await prepared([{ name: "data", content: "x".repeat(90_000) }], name);
      await truncate(archive, Math.floor((await stat(archive)).size / 2));
      await expect(unpack(archive, rootfs)).rejects.toThrow(/unexpected end/i);
    });
  }

  it("refuses a file that is no archive", async () => {
    const { archive, rootfs } = await prepared([]);
    await writeFile(archive, "this is text and no archive".repeat(100));
    await expect(unpack(archive, rootfs)).rejects.toThrow(/invalid tar header/i);
  });

  const refused: Readonly<Record<string, RegExp>> = {
    "link-then-through": /links outside the image/,
    absolute: /its path is absolute/,
    "dot-dot-pax": /its path contains \.\./,
    "hardlink-out-pax": /its path contains \.\./,
    "hardlink-to-host": /its path is absolute/,
    device: /character-device has no place/,
    "long-name-gnu": /its path is longer than/,
    "long-name-pax": /its path is longer than/,
    "long-link-gnu": /its link target is longer than/,
    "size-pax-negative": /larger than the driver's limit|invalid/i,
    "size-pax-no-number": /larger than the driver's limit|invalid/i,
    "size-pax-huge": /larger than the driver's limit/,
    "size-base256-huge": /larger than the driver's limit/,
    "sparse-gnu": /has no place in an image/,
    "sparse-pax": /a sparse file has no place/,
    text: /unexpected end|invalid/i,
    empty: /it is empty/,
    "gzip-of-nothing": /unexpected end/i,
  };
  for (const [name, why] of Object.entries(refused)) {
    it(`refuses ${name}.tar, as a real tool wrote it`, async () => {
      const { rootfs } = await prepared([]);
      const archive = fileURLToPath(new URL(`fuzz/corpus/archives/${name}.tar`, import.meta.url));
      await expect(unpack(archive, rootfs)).rejects.toThrow(why);
      expect(await readFile(join(rootfs, "..", "..", "outside"), "utf8")).toBe("untouched");
      for (const path of await pathsBelow(rootfs))
        expect((await lstat(join(rootfs, path))).isSymbolicLink(), path).toBe(false);
    });
  }

  it("takes the bits that would make a program another user's out of a mode", async () => {
    const { rootfs } = await prepared([]);
    const archive = fileURLToPath(new URL("fuzz/corpus/archives/mode-setuid.tar", import.meta.url));
    await unpack(archive, rootfs);
    expect((await stat(join(rootfs, "su"))).mode & 0o7700).toBe(0o700);
  });

  it("refuses more entries than there is place for, however small they are", async () => {
    const { archive, rootfs } = await prepared([
      { name: "a", type: "directory" },
      { name: "b", type: "directory" },
      { name: "c", type: "directory" },
    ]);
    const meter = new ByteMeter({ clock: systemClock, signal, reportEveryMs: 0, report: () => undefined });
    const limits = { maxBytes: 1000, maxEntries: 2, signal };
    await expect(unpackTar(archive, new ImageRoot(rootfs), meter, limits)).rejects.toThrow(
      /one of more than 2 entries/,
    );
  });
});
