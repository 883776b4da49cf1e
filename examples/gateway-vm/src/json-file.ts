import { randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import type { z } from "zod";

/** What a file says, `null` when it is not there or says something else. */
export async function readJson<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
): Promise<z.infer<Schema> | null> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as { code?: unknown }).code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return null;
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Written beside and renamed, so that a reader finds the old text or the new one and never half of one. */
export async function writeJson(file: string, value: unknown): Promise<void> {
  const beside = `${file}.${randomUUID()}`;
  await writeFile(beside, JSON.stringify(value), { mode: 0o600 });
  await rename(beside, file);
}
