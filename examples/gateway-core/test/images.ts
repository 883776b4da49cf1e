import { createWriteStream } from "node:fs";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { pack as packTar, type Header } from "tar-stream";

/** Writes a directory image of about `bytes` bytes in several files, one of them a program. */
export async function directoryImage(path: string, bytes: number): Promise<void> {
  await mkdir(join(path, "bin"), { recursive: true });
  await mkdir(join(path, "share", "empty"), { recursive: true });
  const half = Math.floor(bytes / 2);
  await writeFile(join(path, "bin", "tool"), Buffer.alloc(half, "a"), { mode: 0o755 });
  await writeFile(join(path, "share", "data"), Buffer.alloc(bytes - half, "b"), { mode: 0o600 });
  await symlink("../bin/tool", join(path, "share", "tool"));
}

export type TarItem = Partial<Header> & { readonly name: string; readonly content?: string };

/** Writes an archive of exactly these entries, well-meant or not. */
export async function tarImage(path: string, items: readonly TarItem[]): Promise<void> {
  const pack = packTar();
  for (const { content, ...header } of items) pack.entry(header, content ?? "");
  pack.finalize();
  const gzip = path.endsWith(".gz") ? [createGzip()] : [];
  await pipeline([Readable.from(pack), ...gzip, createWriteStream(path)]);
}

/** Every path below a directory, sorted. */
export async function pathsBelow(path: string): Promise<string[]> {
  return (await readdir(path, { recursive: true })).sort();
}
