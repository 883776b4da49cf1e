import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The Node installation that runs this program, as an image. */
export interface NodeImage {
  readonly path: string;
  readonly name: string;
  readonly include: readonly string[];
  /** Path of the Node program below the image. */
  readonly program: string;
  readonly programBytes: number;
  readonly bytes: number;
}

const MAX_BYTES = 400_000_000;

/**
 * Finds the parts that make up a Node installation below the prefix of the running program. The prefix may be one of
 * its own or the system's: only what is Node's is taken, and no more than a few hundred megabytes of it.
 */
export async function findNodeImage(): Promise<NodeImage> {
  const directory = dirname(process.execPath);
  const inBin = basename(directory) === "bin";
  const path = inBin ? dirname(directory) : directory;
  const program = inBin ? `bin/${basename(process.execPath)}` : basename(process.execPath);
  const libraries = (await namesIn(join(path, "lib"))).filter((name) => name.startsWith("libnode"));
  const parts = [
    ...libraries.map((name) => `lib/${name}`),
    "lib/node_modules/npm",
    "lib/node_modules/corepack",
    "include/node",
    "share/doc/node",
  ];
  const include = [program];
  const programBytes = (await sizeOf(join(path, program))) ?? 0;
  let bytes = programBytes;
  for (const part of parts) {
    const size = await sizeOf(join(path, part));
    if (size === null || size === 0 || bytes + size > MAX_BYTES) continue;
    include.push(part);
    bytes += size;
  }
  return { path, name: `node-${process.version}`, include, program, programBytes, bytes };
}

async function namesIn(path: string): Promise<string[]> {
  return readdir(path).catch(() => []);
}

/** Bytes of the files at a path, `null` when there is nothing or something an image cannot hold. */
export async function sizeOf(path: string): Promise<number | null> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return null;
  if (found.isFile()) return found.size;
  if (found.isSymbolicLink()) return 0;
  if (!found.isDirectory()) return null;
  let total = 0;
  for (const name of await readdir(path)) {
    const size = await sizeOf(join(path, name));
    if (size === null) return null;
    total += size;
  }
  return total;
}
