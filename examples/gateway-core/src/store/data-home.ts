import { randomUUID } from "node:crypto";
import { link, open, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Driver } from "../driver/driver.js";
import type { RecordStore } from "./record-store.js";

/** Reads and notes down by which data directory a driver's sandboxes are found. */
export interface DataHomes {
  /** The one that is noted, `null` for none. */
  noted(driver: string): Promise<string | null>;
  /** Notes this one, where nothing is noted yet; answers with the one that is. */
  claim(driver: string, home: string): Promise<string>;
}

/** The records of a store are of sandboxes that are found by another data directory. */
export class OtherDataError extends Error {
  override readonly name = "OtherDataError";

  constructor(driver: string, dataDir: string, [own, noted]: readonly [string, string]) {
    super(
      `The sandboxes of driver ${JSON.stringify(driver)} in this database are found by another data directory than ` +
        `${dataDir} (its data-id is ${own}, the database has ${noted}): this gateway would take all of them for gone, ` +
        `and so would the other one this gateway's. Serve with the directory that has that data-id. If it is lost, and ` +
        `no gateway runs on it: DELETE FROM data_homes WHERE driver = '${driver.replaceAll("'", "''")}'`,
    );
  }
}

/** There are records of sandboxes, by an unknown data directory, and this one was never served with. */
export class NewDataError extends Error {
  override readonly name = "NewDataError";

  constructor(driver: string, dataDir: string) {
    super(
      `There are sandboxes of driver ${JSON.stringify(driver)} in this database, it does not say yet by which data ` +
        `directory they are found, and no gateway was ever served with ${dataDir}: it would take all of them for gone. ` +
        `Serve with the directory that they were made with. If it is lost, write any name of your own into ` +
        `${join(dataDir, NAME)}, and begin again`,
    );
  }
}

/**
 * Refuses to begin where another data directory is the one by which a driver finds what it runs. Databases of earlier
 * gateways do not say which that is: there the first one that was served with before is taken for it.
 *
 * @param wasServed - Whether a gateway was served with this directory before.
 * @throws OtherDataError, NewDataError
 */
export async function bindToData(
  drivers: readonly Driver[],
  { dataDir, wasServed }: { readonly dataDir: string; readonly wasServed: boolean },
  homes: DataHomes,
  store: Pick<RecordStore, "list">,
): Promise<void> {
  const bound = drivers.filter(({ findsByData }) => findsByData === true);
  if (bound.length === 0) return;
  const known = await readId(dataDir);
  if (known === null && !wasServed) {
    const used = await driversIn(store);
    for (const { name } of bound)
      if (used.has(name) && (await homes.noted(name)) === null) throw new NewDataError(name, dataDir);
  }
  const own = known ?? (await makeId(dataDir));
  for (const { name } of bound) {
    const noted = await homes.claim(name, own);
    if (noted !== own) throw new OtherDataError(name, dataDir, [own, noted]);
  }
}

const PAGE = 200;

/** Drivers of the sandboxes that there are records of. */
async function driversIn(store: Pick<RecordStore, "list">): Promise<ReadonlySet<unknown>> {
  const found = new Set<unknown>();
  for (let after: string | undefined; ; ) {
    const { items, next } = await store.list({ after, limit: PAGE });
    for (const { value } of items) found.add((value["spec"] as { driver?: unknown } | undefined)?.driver);
    if (next === null) return found;
    after = next;
  }
}

/** In a data directory: what names it wherever it is moved to. */
const NAME = "data-id";

/** @throws Error for a file without a name in it, as a crash of the machine may leave one: two of these are not the same */
async function readId(dataDir: string): Promise<string | null> {
  const path = join(dataDir, NAME);
  let text: string;
  try {
    text = (await readFile(path, "utf8")).trim();
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return null;
    throw error;
  }
  if (text !== "") return text;
  throw new Error(`${path} is empty: write the name of this directory into it, or remove it for a new one`);
}

/** Made at the first time, by whichever gateway is first. */
async function makeId(dataDir: string): Promise<string> {
  const path = join(dataDir, NAME);
  const beside = `${path}.${randomUUID()}`;
  try {
    await writeFile(beside, `${randomUUID()}\n`, { mode: 0o600, flush: true });
    // Never replaces one that is there, and is never seen half written.
    await link(beside, path).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== "EEXIST") throw error;
    });
  } finally {
    await rm(beside, { force: true });
  }
  // A database remembers it for longer than a machine that crashes now, unless it is on the disk.
  const directory = await open(dataDir, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
  const own = await readId(dataDir);
  if (own === null) throw new Error(`${path} was removed as soon as it was written`);
  return own;
}
