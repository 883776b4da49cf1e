import type { DriverProgress, ImageSpec } from "@slipway-examples/gateway-core";
import { systemClock } from "slipway";
import { createHash } from "node:crypto";
import { link, mkdir, open, rename, rm, utimes } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readJson, writeJson } from "../json-file.js";
import { ByteReports } from "./byte-reports.js";
import { contentOf, trimCache } from "./cache-limit.js";
import { ImageLock } from "./image-lock.js";
import type { ImageSource } from "./image-source.js";
import { contentSchema, lookInside, type ImageContent } from "./look-inside.js";
import { IncompleteArchiveError, PackError, packRootfs } from "./pack-rootfs.js";
import { permanent } from "../reasons.js";
import { WaitSteps } from "./wait-steps.js";
import { WriteBehind } from "./write-behind.js";

const LOOK_EVERY_MS = 200;

/** A root file system that is complete, and what a guest has to know of it. */
export interface CachedImage extends ImageContent {
  /** A link to it in the staging directory: it is in use for as long as there is one, and nobody removes it. */
  readonly rootfs: string;
}

export interface ImageWork {
  readonly image: ImageSpec;
  readonly source: ImageSource;
  /** A directory of this very start, on the cache's file system; whoever made it removes it. */
  readonly staging: string;
  readonly sandboxName: string;
  readonly signal: AbortSignal;
  readonly report: (progress: DriverProgress) => void;
}

/**
 * Root file systems by the identity of their image. What stands in place is complete: an image is packed beside, and
 * renamed into place once its last byte is on the disk.
 */
export class ImageCache {
  readonly #directory: string;
  readonly #limitBytes: number;

  /** @param limitBytes - What images that nobody uses may take, together with those in use. */
  constructor(directory: string, limitBytes: number) {
    this.#directory = directory;
    this.#limitBytes = limitBytes;
  }

  /** The image's root file system, packed now when it is not there, by one sandbox for all that want it. */
  async provide(work: ImageWork): Promise<CachedImage> {
    const { image, source, staging, report } = work;
    await mkdir(this.#directory, { recursive: true });
    const rootfs = join(this.#directory, `${keyOf(source)}.sqfs`);
    const found = await this.#take(rootfs, work);
    let held: CachedImage | null;
    if (found instanceof ImageLock) {
      try {
        await pack(rootfs, work);
        held = await hold(rootfs, staging);
      } finally {
        await found.release();
      }
    } else {
      held = found;
      report({ step: "image", subject: image.name, label: "Image reused", unit: "none", done: true });
    }
    if (held === null) throw new Error(`${image.name} left the image cache meanwhile`);
    // What cannot be removed now is looked at again with the next start, and is no reason for this one to fail.
    await trimCache(this.#directory, this.#limitBytes).catch(() => undefined);
    return held;
  }

  /** The lock for packing, or the image when it is there, be it after somebody else's work. */
  async #take(rootfs: string, work: ImageWork): Promise<ImageLock | CachedImage> {
    const { image, staging, sandboxName, signal, report } = work;
    const file = packedIn(staging);
    const waits = new WaitSteps(image.name, report);
    for (;;) {
      signal.throwIfAborted();
      const there = await hold(rootfs, staging);
      if (there !== null) return waits.over(there);
      const got = await ImageLock.tryTake(`${rootfs}.lock`, { sandbox: sandboxName, file });
      if (got instanceof ImageLock) {
        const meanwhile = await hold(rootfs, staging);
        if (meanwhile === null) return waits.over(got);
        await got.release();
        return waits.over(meanwhile);
      }
      await waits.see(got);
      await delay(LOOK_EVERY_MS, undefined, { signal });
    }
  }
}

async function pack(rootfs: string, work: ImageWork): Promise<void> {
  const { image, source, staging, signal } = work;
  const { label, activeLabel } = source;
  const step = { step: "image", subject: image.name, label, activeLabel, unit: "bytes" } as const;
  const known = source.total === undefined ? {} : { total: source.total };
  const passed = new ByteReports(systemClock, (position) => work.report({ ...step, ...known, position }));
  passed.see(0);
  const file = packedIn(staging);
  const disk = new WriteBehind(() => persist(file));
  const archive = await source.open(staging, signal);
  try {
    const onBytes = (bytes: number): void => passed.see(bytes);
    await packRootfs(archive.tar, file, { signal, onBytes, behind: (bytes) => disk.passed(bytes) });
  } catch (error) {
    signal.throwIfAborted();
    passed.flush();
    throw asDriverError(error, image);
  } finally {
    passed.close();
    // What could not be undone is in the staging's note, and is tried again with the staging's removal. So is what
    // nobody should wait for now.
    const closed = archive.close().catch(() => undefined);
    if (!signal.aborted) await closed;
  }
  const content = await lookInside(file, image, source.config, signal);
  await disk.finish(signal);
  signal.throwIfAborted();
  await writeJson(contentOf(rootfs), content);
  await rename(file, rootfs);
  const { bytes } = passed;
  work.report({ ...step, position: bytes, total: bytes, done: true });
}

/** Only what cannot be otherwise the next time is permanent: a cut archive is, an engine that broke off is not. */
function asDriverError(error: unknown, image: ImageSpec): unknown {
  const malformed = error instanceof IncompleteArchiveError || error instanceof PackError;
  if (!malformed || isDiskFull(error)) return error;
  if (image.path === undefined) return error;
  const message = `${image.name} (${basename(image.path)}) is not a readable archive: ${error.message}`;
  return permanent("MachineImageUnusable", message, error);
}

function isDiskFull(error: Error): boolean {
  return /No space left on device|Disk quota exceeded/i.test(error.message);
}

/** Puts a file's bytes on the disk: after a crash of the machine, what has the image's name has to be the image. */
async function persist(file: string): Promise<void> {
  const handle = await open(file, "r+");
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

function keyOf(source: ImageSource): string {
  return createHash("sha256").update(source.identity).digest("hex").slice(0, 32);
}

function packedIn(staging: string): string {
  return join(staging, "rootfs.sqfs");
}

/** Takes hold of an image for a start, which makes it the one used last; `null` when it is not there. */
async function hold(rootfs: string, staging: string): Promise<CachedImage | null> {
  const content = await readJson(contentOf(rootfs), contentSchema);
  if (content === null) return null;
  const held = join(staging, "image.sqfs");
  try {
    await rm(held, { force: true });
    await link(rootfs, held);
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return null;
    throw error;
  }
  const now = new Date();
  await utimes(held, now, now);
  return { ...content, rootfs: held };
}

/** Removes what was packed: before everything else of a staging, so that the room is free whatever an engine does. */
export async function dropPacked(staging: string): Promise<void> {
  await rm(packedIn(staging), { force: true });
}
