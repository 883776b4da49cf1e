import { PermanentDriverError } from "@slipway-examples/gateway-core";
import { createHash } from "node:crypto";
import { open, stat } from "node:fs/promises";

export interface Archive {
  readonly path: string;
  readonly size: number;
  /** A reference of its own for exactly this content, so that it is imported once. */
  readonly reference: string;
}

const REPOSITORY = "slipway-archive";

/**
 * Looks at an archive of a root filesystem. Two files that differ in path, size or times count as different content;
 * times of change are in it because builds that can be repeated set the time of modification to a constant.
 */
export async function lookAtArchive(name: string, path: string): Promise<Archive> {
  const unusable = (why: string, cause?: unknown): PermanentDriverError =>
    new PermanentDriverError("DockerArchiveUnusable", `The archive ${path} of ${name} ${why}`, { cause });
  const found = await stat(path).catch((error: unknown) => {
    throw unusable(`cannot be read: ${(error as Error).message}`, error);
  });
  if (!found.isFile()) throw unusable("is no file");
  if (!(await looksLikeTar(path)))
    throw unusable("is no tar, plain or compressed with gzip, bzip2, xz or zstd");
  const { size, mtimeMs, ctimeMs, ino } = found;
  const digest = createHash("sha256")
    .update(JSON.stringify([path, size, mtimeMs, ctimeMs, ino]))
    .digest("hex");
  return { path, size, reference: `${REPOSITORY}:${digest.slice(0, 32)}` };
}

const MAGIC = ["1f8b", "425a68", "fd377a585a00", "28b52ffd"].map((hex) => Buffer.from(hex, "hex"));
const TAR_MAGIC_AT = 257;

/** The engine answers one error for an unreadable archive and for a full disk; this one can be told beforehand. */
async function looksLikeTar(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(512), 0, 512, 0);
    if (MAGIC.some((magic) => buffer.subarray(0, magic.length).equals(magic))) return true;
    return bytesRead === 512 && buffer.toString("latin1", TAR_MAGIC_AT, TAR_MAGIC_AT + 5) === "ustar";
  } finally {
    await file.close();
  }
}
