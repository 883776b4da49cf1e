import type { MiddlewareHandler } from "hono";
import { clientOf } from "./client.js";
import { errorBody } from "./errors.js";
import { peerAddress } from "./peer.js";
import { TokenBuckets, type Rate } from "./token-buckets.js";

export interface RateLimits {
  /** What one client may do: whoever shows one token, and without a token whoever is at one address. */
  readonly client: Rate;
  /** What all clients of one address may do together, before anybody looks at their tokens. */
  readonly address: Rate;
}

/** Far above what a supervisor, a page or a command line asks for, and below what makes a gateway busy. */
export const DEFAULT_RATES: RateLimits = {
  client: { perSecond: 200, burst: 400 },
  address: { perSecond: 1000, burst: 2000 },
};

/** Who asks whether the gateway lives gets an answer in any case. */
const ALWAYS = new Set(["/healthz", "/readyz"]);

/**
 * Refuses what comes too often with 429 and the seconds to wait. The credentials are not checked here: a bucket is
 * found by their digest, so that a guess fills a bucket of its own and empties nobody else's, and guessers meet the
 * limit of their address.
 */
export function rateLimited(limits: RateLimits, now: () => number): MiddlewareHandler {
  const clients = new TokenBuckets(limits.client);
  const addresses = new TokenBuckets(limits.address);
  return async (context, next) => {
    if (ALWAYS.has(context.req.path)) return next();
    const address = peerAddress(context);
    const at = now();
    const waitMs = addresses.take(address, at) || clients.take(clientOf(context, address), at);
    if (waitMs === 0) return next();
    const seconds = Math.max(Math.ceil(waitMs / 1000), 1);
    return context.json(errorBody("too-many-requests", `too many requests: wait ${seconds} s`), 429, {
      "retry-after": String(seconds),
    });
  };
}
