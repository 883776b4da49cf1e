import { lstat, open, readdir, readlink, type FileHandle } from "node:fs/promises";
import { join, posix } from "node:path";
import type { ByteMeter } from "./byte-meter.js";
import type { ImageRoot } from "./image-root.js";
import { entrySegments, EscapingEntryError } from "./safe-path.js";
import { writeAll } from "./write-chunks.js";

/** One entry of a directory image, by its path below the root. */
interface TreeEntry {
  readonly path: string;
  readonly kind: "directory" | "file" | "link";
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** What there is to copy, known before the first byte moves. */
export interface TreePlan {
  readonly entries: readonly TreeEntry[];
  readonly totalBytes: number;
}

/** Lists a directory image, or the parts of it that `include` names, in an order in which parents come first. */
export async function planTree(
  root: string,
  include: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<TreePlan> {
  const entries = new Map<string, TreeEntry>();
  for (const part of include ?? [""]) {
    const path = entrySegments(part).join("/");
    // The directories above a part are of the image, though their other contents are not.
    for (let at = posix.dirname(path); path !== "" && at !== "."; at = posix.dirname(at)) {
      entries.set(at, await entryAt(root, at));
    }
    await walk(root, path, entries, signal);
  }
  const sorted = [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return { entries: sorted, totalBytes: sorted.reduce((sum, entry) => sum + entry.size, 0) };
}

async function walk(
  root: string,
  path: string,
  entries: Map<string, TreeEntry>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const entry = await entryAt(root, path);
  if (path !== "") entries.set(path, entry);
  if (entry.kind !== "directory") return;
  for (const name of await readdir(join(root, path))) {
    await walk(root, path === "" ? name : `${path}/${name}`, entries, signal);
  }
}

async function entryAt(root: string, path: string): Promise<TreeEntry> {
  const found = await lstat(join(root, path));
  const { mtimeMs, ctimeMs } = found;
  const entry = { path, mode: found.mode & 0o777, size: 0, mtimeMs, ctimeMs };
  if (found.isDirectory()) return { ...entry, kind: "directory" };
  if (found.isFile()) return { ...entry, kind: "file", size: found.size };
  if (found.isSymbolicLink()) return { ...entry, kind: "link" };
  throw new EscapingEntryError(path, "it is neither a file, a directory nor a link");
}

/** An image has thousands of small files, and most of the time goes into opening them: several at once hide it. */
const WRITERS = 4;
const CHUNK = 512 * 1024;

/** Copies what was planned, byte by byte through the meter. */
export async function copyTree(
  source: string,
  plan: TreePlan,
  target: ImageRoot,
  meter: ByteMeter,
  signal: AbortSignal,
): Promise<void> {
  for (const entry of plan.entries) {
    signal.throwIfAborted();
    if (entry.kind === "directory") await target.directory(entry.path, entry.mode);
    if (entry.kind === "link")
      await target.symbolicLink(entry.path, await readlink(join(source, entry.path)));
  }
  const files = plan.entries.filter((entry) => entry.kind === "file").values();
  let failed = false;
  const write = async (): Promise<void> => {
    const buffer = Buffer.allocUnsafe(CHUNK);
    // All writers take from one iterator.
    for (const entry of files) {
      signal.throwIfAborted();
      if (failed) return;
      const from = join(source, entry.path);
      await copyFile(from, await target.file(entry.path, entry.mode), entry.size, buffer, meter);
    }
  };
  const writeOrStop = (): Promise<void> =>
    write().catch((error: unknown) => {
      failed = true;
      throw error;
    });
  // None of them may go on writing below a directory that is being removed because another one failed.
  const ends = await Promise.allSettled(Array.from({ length: WRITERS }, writeOrStop));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** Copies the bytes that the plan counted: a file that grows meanwhile is cut, and one that shrank is an error. */
async function copyFile(
  source: string,
  target: FileHandle,
  size: number,
  buffer: Buffer,
  meter: ByteMeter,
): Promise<void> {
  try {
    if (size === 0) return;
    await using from = await open(source, "r");
    for (let done = 0; done < size; ) {
      const wanted = await meter.take(Math.min(buffer.length, size - done));
      const { bytesRead } = await from.read(buffer, 0, wanted, null);
      if (bytesRead < wanted) throw new Error(`${source} became shorter while it was copied`);
      await writeAll(target, buffer.subarray(0, bytesRead));
      meter.add(bytesRead);
      done += bytesRead;
    }
  } finally {
    await target.close();
  }
}
