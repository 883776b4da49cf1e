import { posix } from "node:path";
import { headOf } from "../../cut-text.js";

/** An entry of an image that would be written, or would lead, outside it, or that has no place in one. */
export class EscapingEntryError extends Error {
  override readonly name = "EscapingEntryError";
  readonly entry: string;

  constructor(entry: string, why: string) {
    super(`The image entry ${shown(entry)} is refused: ${why}`);
    this.entry = entry;
  }
}

/** What a name within a directory may have on the systems that this runs on, and what is left of a path below a root. */
const NAME_BYTES = 255;
const PATH_BYTES = 2048;
const SHOWN = 200;

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN ? `${headOf(text, SHOWN)}…` : text);
}

/**
 * The path of an entry as segments below the image's root. Pure: only the text is looked at.
 *
 * @throws EscapingEntryError for an absolute path, a `..`, a NUL, a backslash, a drive letter, or a name that is too long.
 */
export function entrySegments(name: string): readonly string[] {
  if (name.includes("\0")) throw new EscapingEntryError(name, "its name contains a NUL");
  if (name.includes("\\")) throw new EscapingEntryError(name, "its name contains a backslash");
  if (name.startsWith("/") || /^[A-Za-z]:/.test(name))
    throw new EscapingEntryError(name, "its path is absolute");
  const segments = name.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) throw new EscapingEntryError(name, "its path contains ..");
  const isLong = segments.some((segment) => Buffer.byteLength(segment) > NAME_BYTES);
  if (isLong || Buffer.byteLength(name) > PATH_BYTES)
    throw new EscapingEntryError(
      name,
      `its path is longer than ${PATH_BYTES} bytes, or a part of it than ${NAME_BYTES}`,
    );
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
    throw new EscapingEntryError(entry, `its link target ${shown(target)} is malformed`);
  }
  if (Buffer.byteLength(target) > PATH_BYTES)
    throw new EscapingEntryError(entry, `its link target is longer than ${PATH_BYTES} bytes`);
  if (posix.isAbsolute(target) || /^[A-Za-z]:/.test(target)) {
    throw new EscapingEntryError(entry, `it links to the absolute path ${shown(target)}`);
  }
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const up = parts.findIndex((part) => part !== "..");
  const climbs = up === -1 ? parts.length : up;
  if (climbs > segments.length - 1)
    throw new EscapingEntryError(entry, `it links outside the image (${shown(target)})`);
  if (parts.slice(climbs).includes("..")) {
    throw new EscapingEntryError(entry, `its link target ${shown(target)} goes down and up again`);
  }
}
