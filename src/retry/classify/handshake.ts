import { suspectEntry } from "./entry.js";
import type { Finding } from "./finding.js";
import { readInteger } from "./inspect.js";

/** Codes with which a peer that drops a connection shows up. */
const RESETS = new Set([
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "UND_ERR_SOCKET",
  "ERR_STREAM_PREMATURE_CLOSE",
]);

/** A refusal of the client certificate comes with the first round trip after the handshake, or not at all. */
const SOON_MS = 1000;

/**
 * What a reset within a second after a TLS handshake means: the row of the table that {@link classify} takes then.
 *
 * @public
 */
export const resetAfterHandshake = suspectEntry(
  "tls",
  "clientCertificateRejected? The peer dropped the connection right after the TLS handshake, as a TLS 1.3 server does that refuses the client certificate without an alert; one that restarts does so once, and not again and again",
);

/**
 * A reset right after a TLS handshake is suspect: three in a row over a minute are no restart. The error alone does not
 * show that there was a handshake, so whoever made the connection says so: `secureConnectedAt` on what is thrown, in
 * epoch milliseconds, from the socket's `secureConnect` event.
 */
export function afterHandshake(
  finding: Finding,
  chain: readonly unknown[],
  now: number | undefined,
): Finding {
  if (finding.verdict !== "transient" || !RESETS.has(finding.code) || now === undefined) return finding;
  const at = chain.map((link) => readInteger(link, "secureConnectedAt")).find((each) => each !== undefined);
  if (at === undefined || now < at || now - at > SOON_MS) return finding;
  return { ...finding, ...resetAfterHandshake };
}
