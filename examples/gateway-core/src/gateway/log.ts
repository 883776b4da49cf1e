/** What the gateway says about itself. Fields are plain values; tokens and policies are never among them. */
export type Log = (event: string, fields: Readonly<Record<string, string | number | boolean | null>>) => void;

/** One JSON object per line. */
export function jsonLog(write: (line: string) => void, now: () => number): Log {
  return (event, fields) =>
    write(`${JSON.stringify({ at: new Date(now()).toISOString(), event, ...fields })}\n`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
