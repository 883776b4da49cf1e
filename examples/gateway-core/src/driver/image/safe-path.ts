import { posix } from "node:path";

/** An entry of an image that would be written, or would lead, outside it. */
export class EscapingEntryError extends Error {
  override readonly name = "EscapingEntryError";
  readonly entry: string;

  constructor(entry: string, why: string) {
    super(`The image entry ${JSON.stringify(entry)} is refused: ${why}`);
    this.entry = entry;
  }
}

/**
 * The path of an entry as segments below the image's root. Pure: only the text is looked at.
 *
 * @throws EscapingEntryError for an absolute path, a `..`, a NUL, a backslash or a drive letter.
 */
export function entrySegments(name: string): readonly string[] {
  if (name.includes("\0")) throw new EscapingEntryError(name, "its name contains a NUL");
  if (name.includes("\\")) throw new EscapingEntryError(name, "its name contains a backslash");
  if (name.startsWith("/") || /^[A-Za-z]:/.test(name))
    throw new EscapingEntryError(name, "its path is absolute");
  const segments = name.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) throw new EscapingEntryError(name, "its path contains ..");
  return segments;
}

/**
 * Checks where a symbolic link leads. Pure.
 *
 * `..` is accepted only at the front of the target. In the middle it could follow another link, and the directory
 * above that link's target is not the one that the text suggests. With `..` only at the front, and no entry ever
 * written through a link, every link stays inside on its own, and therefore any chain of them does.
 */
export function checkLinkTarget(entry: string, segments: readonly string[], target: string): void {
  if (target === "" || target.includes("\0") || target.includes("\\")) {
    throw new EscapingEntryError(entry, `its link target ${JSON.stringify(target)} is malformed`);
  }
  if (posix.isAbsolute(target) || /^[A-Za-z]:/.test(target)) {
    throw new EscapingEntryError(entry, `it links to the absolute path ${JSON.stringify(target)}`);
  }
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const up = parts.findIndex((part) => part !== "..");
  const climbs = up === -1 ? parts.length : up;
  if (climbs > segments.length - 1)
    throw new EscapingEntryError(entry, `it links outside the image (${target})`);
  if (parts.slice(climbs).includes("..")) {
    throw new EscapingEntryError(entry, `its link target ${JSON.stringify(target)} goes down and up again`);
  }
}
