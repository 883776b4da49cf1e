import type { Context, Next } from "hono";
import { errorBody } from "./errors.js";
import { remoteAddress } from "./peer.js";

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Keeps everybody else out where no token is asked for: other machines, and web pages in a browser of this one. Such
 * a page can reach a loopback port; its request carries the page's origin, or, where a name was pointed at this
 * machine, a host that is not it.
 */
export async function localOnly(context: Context, next: Next): Promise<Response | undefined> {
  const url = new URL(context.req.url);
  const host = context.req.header("host") ?? url.host;
  const origin = context.req.header("origin");
  const local = isLocalPeer(context) && LOOPBACK.has(nameOf(host));
  if (!local || (origin !== undefined && origin !== `http://${host}`)) {
    return context.json(errorBody("forbidden", "only programs on this machine may use this address"), 403);
  }
  await next();
  return undefined;
}

/** Whether the other end is on this machine. A request without a connection was made inside this process. */
function isLocalPeer(context: Context): boolean {
  const address = remoteAddress(context);
  return address === null || /^(::1$|127\.|::ffff:127\.)/.test(address);
}

function nameOf(host: string): string {
  return host.replace(/:\d+$/, "").toLowerCase();
}
