// @ts-check
/** @import { SandboxView } from "../http/view.js" */

const NAMED = 3;

/**
 * What a listener should hear of a change: of a new phase, and of nothing smaller.
 *
 * @param {SandboxView | undefined} before
 * @param {SandboxView | undefined} after
 * @returns {string | null}
 */
export function announcementOf(before, after) {
  if (after === undefined) return before === undefined ? null : `${before.name} is gone.`;
  if (before === undefined) return `${after.name} is new: ${after.phase}.`;
  if (before.phase === after.phase) return null;
  const why = after.phase === "Error" ? `, ${after.reason}. ${after.message}` : ".";
  return `${after.name} is ${after.phase}${why}`;
}

/**
 * Several changes as one announcement: nobody can listen to five hundred.
 *
 * @param {readonly string[]} changes
 * @returns {string}
 */
export function joinAnnouncements(changes) {
  const named = changes.slice(0, NAMED);
  const more = changes.length - named.length;
  if (more > 0) named.push(`And ${more} more ${more === 1 ? "change" : "changes"}.`);
  return named.join(" ");
}
