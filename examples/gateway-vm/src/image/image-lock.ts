import { isAlive, readStartMarker } from "@slipway-examples/gateway-core";
import { randomUUID } from "node:crypto";
import { link, rename, rm, writeFile } from "node:fs/promises";
import { z } from "zod";
import { readJson } from "../json-file.js";

const holderSchema = z.object({
  token: z.string(),
  pid: z.int().positive(),
  startMarker: z.string(),
  /** Name of the sandbox for which the image is being packed; `null`: it is being removed. */
  sandbox: z.string().nullable(),
  /** The file that grows meanwhile. */
  file: z.string(),
});

export type LockHolder = z.infer<typeof holderSchema>;

/**
 * The right to bring one image into the cache, in a file that names its holder to everybody who waits.
 *
 * A holder whose process has ended loses it. Should two hold it after all, both do the same work and the later one's
 * result replaces the earlier one's, which is the same image: correctness does not rest on the lock.
 */
export class ImageLock {
  readonly #file: string;
  readonly #token: string;

  private constructor(file: string, token: string) {
    this.#file = file;
    this.#token = token;
  }

  /** Takes the lock, or says who has it. */
  static async tryTake(
    file: string,
    work: Pick<LockHolder, "sandbox" | "file">,
  ): Promise<ImageLock | LockHolder> {
    const token = randomUUID();
    const startMarker = (await readStartMarker(process.pid)) ?? "";
    const mine: LockHolder = { token, pid: process.pid, startMarker, ...work };
    const beside = `${file}.${token}`;
    await writeFile(beside, JSON.stringify(mine), { mode: 0o600 });
    try {
      for (;;) {
        if (await linked(beside, file)) return new ImageLock(file, token);
        const holder = await readJson(file, holderSchema);
        if (holder !== null && (await isAlive(holder))) return holder;
        await discard(file, holder);
      }
    } finally {
      await rm(beside, { force: true });
    }
  }

  async release(): Promise<void> {
    const holder = await readJson(this.#file, holderSchema);
    if (holder?.token === this.#token) await rm(this.#file, { force: true });
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === "EEXIST") return false;
    throw error;
  }
}

/** Takes a dead holder's lock away, and puts it back when it turns out to be somebody else's by now. */
async function discard(file: string, dead: LockHolder | null): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return;
    throw error;
  }
  const found = await readJson(aside, holderSchema);
  if (found?.token !== dead?.token) await linked(aside, file);
  await rm(aside, { force: true });
}
