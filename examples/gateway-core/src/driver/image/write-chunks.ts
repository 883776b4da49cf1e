import type { FileHandle } from "node:fs/promises";

/** Writes all of a chunk: a single write may take only a part of it. */
export async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  let offset = 0;
  while (offset < chunk.length) {
    const { bytesWritten } = await file.write(chunk, offset, chunk.length - offset);
    offset += bytesWritten;
  }
}
