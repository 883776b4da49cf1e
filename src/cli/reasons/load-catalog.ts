import { type ReasonCatalog, sandboxReasons } from "../../conditions/index.js";
import { isSlipwayError, show } from "../../errors.js";
import { decodeReasonCatalog } from "../../schema/reason-catalog.js";
import { type CommandIo, UsageError } from "../command.js";

const SCHEMA_VERSION = 1;
const A_CATALOG = "a catalog, as JSON or as a JavaScript module that exports one";
const FOR_TYPESCRIPT =
  "compile it first, or use Node.js 22.18 or later, or a loader such as NODE_OPTIONS='--import tsx'";
const A_LOCK = "a lock file, as slipway reasons lock writes it";

/**
 * The catalog in a file: JSON (`-` is standard input), or a JavaScript module that exports one as `default`, `catalog`
 * or `reasons`, or only one. Without a file the built-in one.
 */
export async function loadCatalog(file: string | undefined, io: CommandIo): Promise<ReasonCatalog> {
  if (file === undefined) return sandboxReasons;
  const found = file === "-" || /\.json$/i.test(file) ? readJson(file, io) : await readModule(file, io);
  refuseNewer(file, found);
  return decode(nameOf(file), isLock(found) ? found.catalog : found);
}

/** The catalog that a lock file holds, or `undefined` when there is no such file. */
export function loadLock(file: string, io: CommandIo): ReasonCatalog | undefined {
  const text = readIfThere(file, io);
  if (text === undefined) return undefined;
  const lock = parse(file, text, A_LOCK);
  refuseNewer(file, lock);
  if (!isLock(lock))
    throw new UsageError(`${file} is no lock file of this version: expected ${A_LOCK}, found ${show(lock)}`);
  return decode(file, lock.catalog);
}

/** The text of a lock file. It ends in a line break and depends on the catalog only. */
export function lockText(catalog: ReasonCatalog): string {
  return `${JSON.stringify({ schemaVersion: SCHEMA_VERSION, catalog }, null, 2)}\n`;
}

function refuseNewer(file: string, value: unknown): void {
  const version = versionOf(value);
  if (version <= SCHEMA_VERSION) return;
  throw new UsageError(
    `${nameOf(file)} was written by a newer slipway (schemaVersion ${version}, this one reads ${SCHEMA_VERSION}): upgrade slipway`,
  );
}

function nameOf(file: string): string {
  return file === "-" ? "standard input" : file;
}

function versionOf(value: unknown): number {
  const version =
    typeof value === "object" && value !== null && "schemaVersion" in value && value.schemaVersion;
  return typeof version === "number" ? version : 0;
}

function isLock(value: unknown): value is { readonly catalog: unknown } {
  return (
    typeof value === "object" &&
    value !== null &&
    "schemaVersion" in value &&
    value.schemaVersion === SCHEMA_VERSION &&
    "catalog" in value
  );
}

function decode(file: string, value: unknown): ReasonCatalog {
  try {
    return decodeReasonCatalog(value);
  } catch (error) {
    if (!isSlipwayError(error)) throw error;
    throw new UsageError(`${file}: ${error.message}`);
  }
}

function readJson(file: string, io: CommandIo): unknown {
  const text = readIfThere(file, io);
  if (text === undefined) throw missing(file);
  return parse(file, text, A_CATALOG);
}

function missing(file: string): UsageError {
  return new UsageError(`${nameOf(file)} does not exist: expected ${A_CATALOG}`);
}

function parse(file: string, text: string, expected: string): unknown {
  try {
    // Some editors and shells put a byte order mark in front.
    return JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  } catch (error) {
    const found = text.trim() === "" ? "nothing" : show(text.trim());
    throw new UsageError(
      `${nameOf(file)} is not JSON: expected ${expected}, found ${found} (${messageOf(error)})`,
    );
  }
}

function readIfThere(file: string, io: CommandIo): string | undefined {
  try {
    return io.read(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

async function readModule(file: string, io: CommandIo): Promise<unknown> {
  try {
    return copyOf(only(file, await io.load(file)));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (readIfThere(file, io) === undefined) throw missing(file);
    const hint = /\.[cm]?tsx?$/.test(file) ? `; ${FOR_TYPESCRIPT}` : "";
    throw new UsageError(
      `${file} cannot be loaded: expected ${A_CATALOG}, found: ${messageOf(error)}${hint}`,
    );
  }
}

/** A copy, because a module's objects may do anything when they are read. What cannot be copied is named by its field. */
function copyOf(catalog: unknown): unknown {
  try {
    return structuredClone(catalog);
  } catch (error) {
    const field = codeIn(catalog, "", new Set());
    throw field === undefined ? error : new Error(`${field}, which is code and no data`);
  }
}

/** The first field that holds a function or a symbol. */
function codeIn(value: unknown, path: string, seen: Set<unknown>): string | undefined {
  if (typeof value === "function" || typeof value === "symbol") return path;
  if (typeof value !== "object" || value === null || seen.has(value)) return undefined;
  seen.add(value);
  for (const [key, inner] of Object.entries(value)) {
    const place = Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    const found = codeIn(inner, place, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The one catalog among the exports of a module. */
function only(file: string, exported: Readonly<Record<string, unknown>>): unknown {
  // A CommonJS module shows its exports once more below `default`, so what is no catalog is passed over.
  const found = new Set(Object.values(exported).filter(looksLikeCatalog));
  const [first] = found;
  const preferred = [exported["default"], exported["catalog"], exported["reasons"]].find(looksLikeCatalog);
  if (preferred === undefined && found.size !== 1) {
    throw new UsageError(
      `${file} exports ${found.size === 0 ? "no catalog" : "several catalogs"}: expected one, as default, catalog or ` +
        `reasons, found ${found.size === 0 ? namesOf(exported) : `${found.size}`}`,
    );
  }
  return preferred ?? first;
}

function namesOf(exported: Readonly<Record<string, unknown>>): string {
  const names = Object.entries(exported).map(([name, value]) => `${name}: ${show(value)}`);
  return names.length === 0 ? "no export" : names.join(", ");
}

function looksLikeCatalog(value: unknown): value is object {
  return typeof value === "object" && value !== null && "contract" in value && "reasons" in value;
}

/** Why the host refused something, for a message. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
