import type { Context, Next } from "hono";
import { errorBody } from "./errors.js";

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Keeps web pages out. A browser on this machine can reach a loopback port from any page it shows; such a request
 * carries the page's origin, or, where a name was pointed at this machine, a host that is not it.
 */
export async function localOnly(context: Context, next: Next): Promise<Response | undefined> {
  const url = new URL(context.req.url);
  const host = context.req.header("host") ?? url.host;
  const origin = context.req.header("origin");
  if (!LOOPBACK.has(nameOf(host)) || (origin !== undefined && origin !== `http://${host}`)) {
    return context.json(errorBody("forbidden", "only programs on this machine may use this address"), 403);
  }
  await next();
  return undefined;
}

function nameOf(host: string): string {
  return host.replace(/:\d+$/, "").toLowerCase();
}
