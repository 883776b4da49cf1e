import { tailOf, type ProcessIdentity } from "@slipway-examples/gateway-core";
import { QmpClient } from "./qmp-client.js";
import { CONSOLE, MONITOR, type EVENTS } from "./qemu-arguments.js";

/** Longest console text that is kept, in bytes. */
const CONSOLE_BYTES = 4096;

/**
 * The path of a machine's socket. Through its process, because the path of a socket may have only some hundred
 * bytes, and a data directory may be anywhere.
 */
export function socketOf(
  { pid }: Pick<ProcessIdentity, "pid">,
  name: typeof MONITOR | typeof EVENTS,
): string {
  return `/proc/${pid}/cwd/${name}`;
}

/** Talks to a machine's monitor, for at most so long. */
export async function withMonitor<T>(
  process: Pick<ProcessIdentity, "pid">,
  limitMs: number,
  talk: (client: QmpClient) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.timeout(limitMs);
  const client = await QmpClient.connect(socketOf(process, MONITOR), signal);
  const late = (): void => client.close();
  signal.addEventListener("abort", late, { once: true });
  try {
    return await talk(client);
  } finally {
    signal.removeEventListener("abort", late);
    client.close();
  }
}

/** The word for what the machine does; `null` when it is none that can be read. */
export async function statusOf(client: QmpClient): Promise<{ status: string } & Record<string, unknown>> {
  return (await client.execute("query-status")) as { status: string } & Record<string, unknown>;
}

export async function nameOf(client: QmpClient): Promise<string | null> {
  const answer = (await client.execute("query-name")) as { name?: string };
  return answer.name ?? null;
}

/** The last of what the guest wrote to its console. Reading it takes it away. */
export async function consoleOf(client: QmpClient): Promise<string> {
  const args = { device: CONSOLE, size: 65_536, format: "utf8" };
  const text = await client.execute("ringbuf-read", args).catch(() => "");
  const plain = String(text).replaceAll(/\u001b\[[0-9;?]*[A-Za-z]|\r/g, "");
  return tailOf(plain.trim(), CONSOLE_BYTES);
}
