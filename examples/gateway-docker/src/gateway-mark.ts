import { randomUUID } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The mark of the gateway that keeps its records in this folder. It is made once: with another one after a restart the
 * gateway would not know its own containers, and with a common one two gateways would take each other's for theirs.
 */
export async function gatewayMark(dataDir: string): Promise<string> {
  const path = join(dataDir, "docker-mark");
  const fresh = `${path}.${randomUUID()}`;
  await writeFile(fresh, randomUUID());
  // Of two processes that begin at once the first to link decides for both.
  await link(fresh, path).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== "EEXIST") throw error;
  });
  await rm(fresh);
  return readFile(path, "utf8");
}
