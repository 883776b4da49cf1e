import { setTimeout as delay } from "node:timers/promises";

const LIMIT_MS = 50_000;

/** Looks again and again until something is there; the limit is generous, for a busy machine is no failure. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | undefined | false>,
  limitMs = LIMIT_MS,
): Promise<T> {
  const giveUpAt = Date.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (Date.now() > giveUpAt) throw new Error(`never seen within ${limitMs} ms: ${what}`);
    await delay(20);
  }
}
