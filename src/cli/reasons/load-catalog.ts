import { type ReasonCatalog, sandboxReasons } from "../../conditions/index.js";
import { isSlipwayError } from "../../errors.js";
import { decodeReasonCatalog } from "../../schema/reason-catalog.js";
import { type CommandIo, UsageError } from "../command.js";

const SCHEMA_VERSION = 1;

/**
 * The catalog in a file: JSON (`-` is standard input), or a JavaScript module that exports one as `default`, `catalog` or `reasons`, or only
 * one. Without a file the built-in one.
 */
export async function loadCatalog(file: string | undefined, io: CommandIo): Promise<ReasonCatalog> {
  if (file === undefined) return sandboxReasons;
  const found = file === "-" || /\.json$/i.test(file) ? readJson(file, io) : await readModule(file, io);
  return decode(file, isLock(found) ? found.catalog : found);
}

/** The catalog that a lock file holds, or `undefined` when there is no such file. */
export function loadLock(file: string, io: CommandIo): ReasonCatalog | undefined {
  const text = readIfThere(file, io);
  if (text === undefined) return undefined;
  const lock = parse(file, text);
  const version = versionOf(lock);
  if (version > SCHEMA_VERSION) {
    throw new UsageError(
      `${file} was written by a newer slipway (schemaVersion ${version}, this one reads ${SCHEMA_VERSION}): upgrade slipway`,
    );
  }
  if (!isLock(lock))
    throw new UsageError(`${file} is no lock file of this version: run slipway reasons lock`);
  return decode(file, lock.catalog);
}

/** The text of a lock file. It ends in a line break and depends on the catalog only. */
export function lockText(catalog: ReasonCatalog): string {
  return `${JSON.stringify({ schemaVersion: SCHEMA_VERSION, catalog }, null, 2)}\n`;
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
  if (text === undefined) throw new UsageError(`${file} does not exist`);
  return parse(file, text);
}

function parse(file: string, text: string): unknown {
  try {
    // Some editors and shells put a byte order mark in front.
    return JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  } catch {
    throw new UsageError(`${file} is not JSON`);
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
  let exported: Readonly<Record<string, unknown>>;
  try {
    exported = await io.load(file);
  } catch (error) {
    throw new UsageError(`${file} cannot be loaded: ${messageOf(error)}`);
  }
  // A CommonJS module shows its exports once more below `default`, so what is no catalog is passed over.
  const found = new Set(Object.values(exported).filter(looksLikeCatalog));
  const [only] = found;
  const preferred = [exported["default"], exported["catalog"], exported["reasons"]].find(looksLikeCatalog);
  if (preferred === undefined && found.size !== 1) {
    throw new UsageError(
      `${file} exports ${found.size === 0 ? "no catalog" : "several catalogs"}: export one as default`,
    );
  }
  return preferred ?? only;
}

function looksLikeCatalog(value: unknown): value is object {
  return typeof value === "object" && value !== null && "contract" in value && "reasons" in value;
}

/** Why the host refused something, for a message. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
