// @ts-check
import { formatAgo, formatDuration } from "./quantities.js";

/** @import { SandboxView } from "../http/view.js" */

/**
 * @typedef {object} Fact
 * @property {string} term
 * @property {string} text
 */

/**
 * What else there is to know of a sandbox, as terms and texts.
 *
 * @param {SandboxView} view
 * @param {number} now
 * @returns {Fact[]}
 */
export function factsOf(view, now) {
  const { image, configuration, appliedGeneration } = view;
  const { generation } = configuration;
  const path = image.path === undefined || image.path === image.name ? "" : ` (${image.path})`;
  /** @type {[string, string | null][]} */
  const facts = [
    ["Driver", view.driver],
    ["Image", `${image.name}${path}`],
    ["Command", view.command.map(quoteWord).join(" ")],
    ["Wanted", `${view.desired}${view.startPending ? ", a start waits" : ""}`],
    ["Attempt", `${view.attempt}, run ${view.run}`],
    ["Configuration", `generation ${generation}${appliedText(generation, appliedGeneration)}`],
    ["Admission", view.admission],
    ["Restarts by itself", restartsText(view, now)],
    ["Isolation backend", view.isolationBackend],
    ["Ended", exitText(view, now)],
    ["Refused news", refusalsText(view)],
    ["Decided by rule", `${view.decision.rule}${view.decision.stale ? ", on an old look" : ""}`],
    ["Created", formatAgo(view.createdAt, now)],
    ["Id", view.id],
  ];
  return facts.flatMap(([term, text]) => (text === null ? [] : [{ term, text }]));
}

/**
 * A word of a command, in quotes where it would not read as one word.
 *
 * @param {string} word
 */
function quoteWord(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word);
}

/**
 * @param {number} generation
 * @param {number} applied
 */
function appliedText(generation, applied) {
  if (applied === generation) return ", applied";
  return applied === 0 ? ", not applied yet" : `, ${applied} applied`;
}

/**
 * @param {SandboxView} view
 * @param {number} now
 */
function restartsText({ restarts, restartAt }, now) {
  if (restarts === 0 && restartAt === null) return null;
  if (restartAt === null || restartAt <= now) return String(restarts);
  return `${restarts}, the next in ${formatDuration(restartAt - now)}`;
}

/**
 * @param {SandboxView} view
 * @param {number} now
 */
function exitText({ exitCode, exitSignal, finishedAt }, now) {
  const how = exitSignal === null ? (exitCode === null ? "" : `code ${exitCode}`) : `signal ${exitSignal}`;
  const when = finishedAt === null ? "" : formatAgo(finishedAt, now);
  return how === "" && when === "" ? null : [how, when].filter((part) => part !== "").join(", ");
}

/** @param {SandboxView} view */
function refusalsText({ refusals }) {
  if (refusals.length === 0) return null;
  return refusals.map(({ event, why, count }) => `${event}: ${why} (${count}×)`).join(", ");
}
