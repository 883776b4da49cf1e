import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { ImageLock } from "./image-lock.js";

/** Bytes of a block, as `stat` counts them. */
const BLOCK = 512;

interface Entry {
  readonly rootfs: string;
  /** What it takes of the disk. */
  readonly bytes: number;
  readonly usedAt: number;
  readonly inUse: boolean;
}

/**
 * Removes images until the rest fits the limit: what was not used for longest goes first, and what is in use stays,
 * however large. Whoever uses an image holds a link to it, so that none is taken away from anybody in any case.
 */
export async function trimCache(directory: string, limitBytes: number): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sqfs"));
  const found = await Promise.all(names.map((name) => entryAt(join(directory, name))));
  const entries = found.filter((entry) => entry !== null).sort((a, b) => a.usedAt - b.usedAt);
  let excess = entries.reduce((sum, { bytes }) => sum + bytes, 0) - limitBytes;
  for (const entry of entries) {
    if (excess <= 0) return;
    if (!entry.inUse && (await removeImage(entry))) excess -= entry.bytes;
  }
}

/** Beside an image: what a guest has to know of it. */
export function contentOf(rootfs: string): string {
  return rootfs.replace(/\.sqfs$/, ".json");
}

async function entryAt(rootfs: string): Promise<Entry | null> {
  const found = await stat(rootfs).catch(() => null);
  if (found === null) return null;
  const { blocks, mtimeMs, nlink } = found;
  return { rootfs, bytes: blocks * BLOCK, usedAt: mtimeMs, inUse: nlink > 1 };
}

/** Under the image's lock, so that it is never half there for somebody who packs it anew. */
async function removeImage({ rootfs, usedAt }: Entry): Promise<boolean> {
  const lock = await ImageLock.tryTake(`${rootfs}.lock`, { sandbox: null, file: rootfs });
  if (!(lock instanceof ImageLock)) return false;
  try {
    // Looked at again: it may have been taken while others were removed.
    const now = await entryAt(rootfs);
    if (now === null || now.inUse || now.usedAt !== usedAt) return false;
    await rm(rootfs, { force: true });
    await rm(contentOf(rootfs), { force: true });
    return true;
  } finally {
    await lock.release();
  }
}
