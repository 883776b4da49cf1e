// @ts-check
/** @import { StreamState } from "./event-stream.js" */

/**
 * How the connection stands, in words.
 *
 * @param {StreamState} state
 * @param {string} detail why it was lost, where that is known
 * @param {number} heardAt when the gateway was last heard, 0 for never
 * @returns {string}
 */
export function connectionText(state, detail, heardAt) {
  if (state === "live") return "Live";
  if (state === "connecting") return "Connecting…";
  if (state === "unauthorized") return "Not signed in";
  const seen = heardAt === 0 ? "" : ` What you see is of ${new Date(heardAt).toLocaleTimeString()}.`;
  const why = detail.startsWith("the gateway answered") ? ` (${detail})` : "";
  return `Connection lost${why}.${seen} Trying again…`;
}
