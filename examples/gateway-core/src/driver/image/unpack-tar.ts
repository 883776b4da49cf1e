import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import tar from "tar-stream";
import type { ByteMeter } from "./byte-meter.js";
import type { ImageRoot } from "./image-root.js";
import { EscapingEntryError } from "./safe-path.js";
import { writeAll } from "./write-chunks.js";

const CHUNK = 256 * 1024;

/**
 * Unpacks a .tar or .tar.gz. The meter counts bytes of the archive, whose size is known, and not of the contents,
 * whose size nobody knows beforehand.
 */
export async function unpackTar(
  archive: string,
  target: ImageRoot,
  meter: ByteMeter,
  limits: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<void> {
  const { signal } = limits;
  const extract = tar.extract();
  const feed = pipeline(
    readMetered(archive, meter),
    ...((await isGzip(archive)) ? [createGunzip()] : []),
    extract,
    { signal },
  );
  // The reader below sees the failure as well; this one only must not go unhandled before that.
  feed.catch(() => undefined);
  let written = 0;
  try {
    for await (const entry of extract) {
      signal.throwIfAborted();
      written += await writeEntry(entry, target, limits.maxBytes - written);
    }
    await feed;
  } catch (error) {
    extract.destroy();
    await feed.catch(() => undefined);
    signal.throwIfAborted();
    throw error;
  }
}

async function* readMetered(archive: string, meter: ByteMeter): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(archive, { highWaterMark: CHUNK }) as AsyncIterable<Buffer>) {
    for (let offset = 0; offset < chunk.length; ) {
      await meter.gate();
      const piece = chunk.subarray(offset, offset + meter.allowance(chunk.length - offset));
      yield piece;
      meter.add(piece.length);
      offset += piece.length;
    }
  }
  await meter.gate();
}

async function writeEntry(entry: tar.Entry, target: ImageRoot, room: number): Promise<number> {
  const { name, type, linkname, mode } = entry.header;
  switch (type) {
    case "directory":
      await target.directory(name, mode ?? 0o755);
      break;
    case "symlink":
      await target.symbolicLink(name, linkname ?? "");
      break;
    case "link":
      await target.hardLink(name, linkname ?? "");
      break;
    case "file":
    case "contiguous-file":
      return writeFile(entry, target, room);
    default:
      throw new EscapingEntryError(name, `an entry of type ${String(type)} has no place in an image`);
  }
  entry.resume();
  return 0;
}

async function writeFile(entry: tar.Entry, target: ImageRoot, room: number): Promise<number> {
  const { name, mode } = entry.header;
  const file = await target.file(name, mode ?? 0o644);
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
