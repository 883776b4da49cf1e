import type { Context } from "hono";
import { createHash } from "node:crypto";
import { peerAddress } from "./peer.js";
import { bearer } from "./request-input.js";

/** Who asks, by the token shown, of which no more than a digest is kept; without one the address. */
export function clientOf(context: Context, address = peerAddress(context)): string {
  const token = bearer(context);
  return token === "" ? address : createHash("sha256").update(token).digest("base64");
}
