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
export function addressOf(given: string): string {
  // The name of an interface says nothing of who is there, and may have a dot in it.
  const address = given.replace(/%.*$/, "");
  // One of IPv4 within IPv6 is what it is of IPv4.
  if (!address.includes(":") || address.includes(".")) return address.slice(address.lastIndexOf(":") + 1);
  // Zeros are left out wherever most of them are, so that one network is written in many ways.
  const [before = "", after] = address.split("::");
  const [front, back] = [groupsOf(before), groupsOf(after ?? "")];
  const left = after === undefined ? 0 : Math.max(8 - front.length - back.length, 0);
  const groups = [...front, ...Array.from({ length: left }, () => "0"), ...back];
  return groups.slice(0, 4).join(":");
}

function groupsOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(":");
}

/** `null` for a request that was made inside this process, `""` where the connection is gone. */
export function remoteAddress({ env }: Context): string | null {
  const { incoming } = (env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } };
  return incoming === undefined ? null : (incoming.socket?.remoteAddress ?? "");
}
