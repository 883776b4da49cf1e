import { withoutSecrets } from "./secrets.js";

/** What the gateway says about itself. Fields are plain values; tokens and policies are never among them. */
export type Log = (event: string, fields: Readonly<Record<string, string | number | boolean | null>>) => void;

/** One JSON object per line. */
export function jsonLog(write: (line: string) => void, now: () => number): Log {
  return (event, fields) =>
    write(`${JSON.stringify({ at: new Date(now()).toISOString(), event, ...fields })}\n`);
}

/**
 * The same log for whatever may hold a secret by mistake, as the error of a driver's client may: the tokens of attempts
 * and these secrets are taken out of every text.
 */
export function discreetLog(log: Log, secrets: readonly string[]): Log {
  return (event, fields) =>
    log(
      event,
      Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [
          name,
          typeof value === "string" ? withoutSecrets(value, secrets) : value,
        ]),
      ),
    );
}

/**
 * A log whose lines also say when it was by the clock that gateways of one store share: by that clock they decide, and
 * by it the lines of all of them are in one order. `at` stays the host's, as everything else that this host logs.
 */
export function logByStore(log: Log, storeNow: () => number): Log {
  return (event, fields) => log(event, { storeAt: new Date(storeNow()).toISOString(), ...fields });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
