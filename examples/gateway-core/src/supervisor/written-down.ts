import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { DismissedError } from "./gateway-link.js";

const LIMIT_MS = 5000;
const POLL_MS = 10;

/**
 * Waits until the driver wrote down that it started this process. A supervisor whose driver died before that could
 * not be found or ended by anybody, so it ends by itself, before it has said or started anything.
 */
export async function writtenDown(note: string | undefined, pid: number): Promise<void> {
  if (note === undefined) return;
  for (let waited = 0; waited < LIMIT_MS; waited += POLL_MS) {
    if (await names(note, pid)) return;
    await delay(POLL_MS);
  }
  throw new DismissedError("nobody wrote down that this supervisor was started");
}

async function names(note: string, pid: number): Promise<boolean> {
  try {
    return (JSON.parse(await readFile(note, "utf8")) as { pid?: unknown }).pid === pid;
  } catch {
    return false;
  }
}
