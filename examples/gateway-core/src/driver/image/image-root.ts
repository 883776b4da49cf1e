import { chmod, link, lstat, mkdir, open, rm, symlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { checkLinkTarget, entrySegments, EscapingEntryError } from "./safe-path.js";

/** The directory an image is being written into. Nothing is ever written outside it, or through a link inside it. */
export class ImageRoot {
  readonly path: string;
  /** Directories that were made or checked, so that each component is looked at once. */
  readonly #known = new Set<string>([""]);

  constructor(path: string) {
    this.path = path;
  }

  async directory(name: string, mode: number): Promise<void> {
    const segments = entrySegments(name);
    await this.#enter(name, segments);
    // The owner keeps access, or the copy could neither be filled nor removed.
    if (segments.length > 0) await chmod(join(this.path, ...segments), (mode & 0o777) | 0o700);
  }

  /** Opens a file for writing that did not exist: whatever stood there under the same name is replaced. */
  async file(name: string, mode: number): Promise<FileHandle> {
    const path = await this.#place(name);
    return open(path, "wx", (mode & 0o777) | 0o600);
  }

  async symbolicLink(name: string, target: string): Promise<void> {
    checkLinkTarget(name, entrySegments(name), target);
    await symlink(target, await this.#place(name));
  }

  async hardLink(name: string, target: string): Promise<void> {
    const from = entrySegments(target);
    await this.#enter(name, from.slice(0, -1));
    const source = join(this.path, ...from);
    // To make place for the link would be to remove what it leads to.
    if (source === join(this.path, ...entrySegments(name))) {
      throw new EscapingEntryError(name, "it is a hard link to itself");
    }
    const found = await lstat(source).catch(() => null);
    if (found?.isFile() !== true) {
      throw new EscapingEntryError(
        name,
        `it is a hard link to ${JSON.stringify(target)}, which is no file of the image`,
      );
    }
    await link(source, await this.#place(name));
  }

  async #place(name: string): Promise<string> {
    const segments = entrySegments(name);
    if (segments.length === 0) throw new EscapingEntryError(name, "it names the image itself");
    await this.#enter(name, segments.slice(0, -1));
    const path = join(this.path, ...segments);
    const found = await lstat(path).catch(() => null);
    if (found !== null) {
      if (found.isDirectory()) throw new EscapingEntryError(name, "a directory stands at its place");
      await rm(path);
    }
    return path;
  }

  /** Makes the directories of a path and refuses to walk through anything that is not one. */
  async #enter(name: string, segments: readonly string[]): Promise<void> {
    for (let depth = 1; depth <= segments.length; depth += 1) {
      const key = segments.slice(0, depth).join("/");
      if (this.#known.has(key)) continue;
      const path = join(this.path, ...segments.slice(0, depth));
      const found = await lstat(path).catch(() => null);
      if (found === null) await mkdir(path, { mode: 0o755 });
      else if (!found.isDirectory())
        throw new EscapingEntryError(name, `${JSON.stringify(key)} is not a directory`);
      this.#known.add(key);
    }
  }
}
