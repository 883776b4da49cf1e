import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { extract as extractTar, type Extract } from "tar-stream";
import type { ByteMeter } from "./byte-meter.js";
import type { ImageRoot } from "./image-root.js";
import { EscapingEntryError } from "./safe-path.js";
import { writeAll } from "./write-chunks.js";

/** One entry as the archive's reader hands it out: a header and a stream of its content. */
type Entry = Extract extends AsyncIterable<infer Item> ? Item : never;

const CHUNK = 256 * 1024;

/** An archive of a few megabytes can have millions of empty entries, and a disk has only so many places for them. */
const MOST_ENTRIES = 1_000_000;

export class EmptyArchiveError extends Error {
  override readonly name = "EmptyArchiveError";

  constructor() {
    super("it is empty");
  }
}

/** What is there is no archive that can be read: it ends early, or its bytes make no sense. */
export class UnreadableArchiveError extends Error {
  override readonly name = "UnreadableArchiveError";
}

export interface UnpackLimits {
  /** Of all contents together. */
  readonly maxBytes: number;
  readonly maxEntries?: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * Unpacks a .tar or .tar.gz. The meter counts bytes of the archive, whose size is known, and not of the contents,
 * whose size nobody knows beforehand.
 *
 * @throws EmptyArchiveError, EscapingEntryError, UnreadableArchiveError: what no second try mends; the signal's reason;
 * and the system's own errors.
 */
export async function unpackTar(
  archive: string,
  target: ImageRoot,
  meter: ByteMeter,
  limits: UnpackLimits,
): Promise<void> {
  const { signal, maxEntries = MOST_ENTRIES } = limits;
  const extract = extractTar();
  // The reader takes no bytes at all for an archive without entries, but every archive has its end marker.
  if ((await stat(archive)).size === 0) throw new EmptyArchiveError();
  const gunzip = (await isGzip(archive)) ? [createGunzip()] : [];
  const feed = pipeline([Readable.from(readMetered(archive, meter)), ...gunzip, extract], { signal });
  // The reader below sees only that its source is gone; why is known here, and only while it comes first.
  let cause: unknown;
  let reading = true;
  feed.catch((error: unknown) => {
    if (reading) cause = error;
  });
  let written = 0;
  let entries = 0;
  try {
    for await (const entry of extract) {
      signal.throwIfAborted();
      entries += 1;
      if (entries > maxEntries)
        throw new EscapingEntryError(entry.header.name, `it is one of more than ${maxEntries} entries`);
      written += await writeEntry(entry, target, limits.maxBytes - written);
    }
    await feed;
  } catch (error) {
    reading = false;
    extract.destroy();
    await feed.catch(() => undefined);
    signal.throwIfAborted();
    throw archiveError(cause ?? error);
  }
}

/** What the system refuses may pass; what the reader of the archive refuses stays so. */
function archiveError(error: unknown): unknown {
  const isSystem = typeof (error as { syscall?: unknown }).syscall === "string";
  if (isSystem || error instanceof EscapingEntryError || !(error instanceof Error)) return error;
  return new UnreadableArchiveError(error.message, { cause: error });
}

async function* readMetered(archive: string, meter: ByteMeter): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(archive, { highWaterMark: CHUNK }) as AsyncIterable<Buffer>) {
    for (let offset = 0; offset < chunk.length; ) {
      const size = await meter.take(chunk.length - offset);
      yield chunk.subarray(offset, offset + size);
      meter.add(size);
      offset += size;
    }
  }
}

async function writeEntry(entry: Entry, target: ImageRoot, room: number): Promise<number> {
  const { name, type, linkname, mode, size, pax } = entry.header;
  if (!Number.isSafeInteger(size) || size < 0 || size > room)
    throw new EscapingEntryError(name, "the image is larger than the driver's limit");
  // Its content would be a map of the file with what is between the holes, and not the file.
  if (Object.keys(pax ?? {}).some((key) => key.startsWith("GNU.sparse.")))
    throw new EscapingEntryError(name, "a sparse file has no place in an image");
  switch (type) {
    case "directory":
      await target.directory(name, mode);
      break;
    case "symlink":
      await target.symbolicLink(name, linkname);
      break;
    case "link":
      await target.hardLink(name, linkname);
      break;
    case "file":
    case "contiguous-file":
      return writeFile(entry, target, room);
    default:
      throw new EscapingEntryError(name, `an entry of type ${type} has no place in an image`);
  }
  entry.resume();
  return 0;
}

async function writeFile(entry: Entry, target: ImageRoot, room: number): Promise<number> {
  const { name, mode } = entry.header;
  const file = await target.file(name, mode);
  let written = 0;
  try {
    for await (const chunk of entry as AsyncIterable<Buffer>) {
      written += chunk.length;
      if (written > room) throw new EscapingEntryError(name, "the image is larger than the driver's limit");
      await writeAll(file, chunk);
    }
  } finally {
    await file.close();
  }
  return written;
}

async function isGzip(archive: string): Promise<boolean> {
  const file = await open(archive, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await file.close();
  }
}
