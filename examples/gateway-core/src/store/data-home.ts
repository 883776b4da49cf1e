import { randomUUID } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Driver } from "../driver/driver.js";

/**
 * Notes down which data directory a driver's sandboxes are found by, where nothing is noted yet; answers with the one
 * that is.
 */
export type ClaimHome = (driver: string, home: string) => Promise<string>;

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

/**
 * Refuses to begin where another data directory is the one by which a driver finds what it runs.
 *
 * @throws OtherDataError
 */
export async function bindToData(
  drivers: readonly Driver[],
  dataDir: string,
  claim: ClaimHome,
): Promise<void> {
  const bound = drivers.filter(({ findsByData }) => findsByData === true);
  if (bound.length === 0) return;
  const own = await dataId(dataDir);
  for (const { name } of bound) {
    const noted = await claim(name, own);
    if (noted !== own) throw new OtherDataError(name, dataDir, [own, noted]);
  }
}

/** What names a data directory wherever it is moved to; made at the first time, by whichever gateway is first. */
async function dataId(dataDir: string): Promise<string> {
  const path = join(dataDir, "data-id");
  const beside = `${path}.${randomUUID()}`;
  await writeFile(beside, `${randomUUID()}\n`, { mode: 0o600 });
  try {
    // Never replaces one that is there, and is never seen half written.
    await link(beside, path).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== "EEXIST") throw error;
    });
    return (await readFile(path, "utf8")).trim();
  } finally {
    await rm(beside, { force: true });
  }
}
