import type { Context } from "hono";

/**
 * The address at the other end of the connection; of IPv6 the network, of which one machine has a whole. What a proxy
 * says of others is not read: anybody may say it. A request without a connection was made inside this process.
 */
export function peerAddress(context: Context): string {
  const address = remoteAddress(context);
  return address === null ? "inside" : addressOf(address);
}

/** The address of a connection as limits go by it. Pure. */
export function addressOf(address: string): string {
  if (!address.includes(":") || address.startsWith("::ffff:")) return address.replace("::ffff:", "");
  return address.split(":").slice(0, 4).join(":");
}

/** `null` for a request that was made inside this process, `""` where the connection is gone. */
export function remoteAddress({ env }: Context): string | null {
  const { incoming } = (env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } };
  return incoming === undefined ? null : (incoming.socket?.remoteAddress ?? "");
}
