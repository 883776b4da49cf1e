// @ts-check
import { formatDuration, formatElapsed, spokenDuration } from "./quantities.js";

/** @import { DeadlineView, SandboxView } from "../http/view.js" */

/**
 * @typedef {object} DeadlineBar
 * @property {string} key the bound's name
 * @property {string} label
 * @property {boolean} limits whether this bound is the deadline in force
 * @property {number} startAt
 * @property {number} endAt
 * @property {number} fraction how much of it has passed, 0 to 1
 * @property {number | null} renewedFrom where on the bar, 0 to 1, it would have ended without its renewals
 * @property {string} left
 * @property {string} spoken
 * @property {string} note
 */

/**
 * @typedef {object} PlannedPhase
 * @property {string} name
 * @property {"past" | "current" | "ended" | "ahead"} state
 * @property {string} budget
 */

/**
 * @typedef {object} DeadlineSummary
 * @property {string} headline
 * @property {string} detail
 * @property {"active" | "met" | "expired" | "over" | "none"} state
 * @property {PlannedPhase[]} phases
 * @property {DeadlineBar[]} bars the bound in force first
 */

/** @type {Readonly<Record<string, (phase: string) => string>>} */
const BOUND_LABELS = {
  budget: (phase) => `Window of ${phase}`,
  "phase-ceiling": (phase) => `Ceiling of ${phase}`,
  "attempt-ceiling": () => "Ceiling of the attempt",
  parent: () => "Limit from outside",
  stall: () => "Silence without progress",
};

/** A first rejection comes with the first report, and opens a window that is hardly longer. */
const SHOWN_RENEWAL_MS = 1000;

/**
 * Where an attempt's deadline stands, and every bound of it with what is left.
 *
 * @param {Pick<SandboxView, "deadline" | "steps">} view
 * @param {number} now the server's time
 * @returns {DeadlineSummary}
 */
export function deadlineSummary({ deadline, steps }, now) {
  if (deadline === null)
    return { headline: "No attempt, no deadline", detail: "", state: "none", phases: [], bars: [] };
  const phases = plannedPhases(deadline);
  const { status, expiry, elapsedMs } = deadline;
  if (status === "active") {
    const lastProgressAt = Math.max(deadline.phaseEnteredAt, ...steps.map(({ heardAt }) => heardAt ?? 0));
    const bars = deadlineBars(deadline, lastProgressAt, now);
    return {
      headline: activeHeadline(deadline, now),
      detail: standstill(deadline) ?? rejected(deadline),
      state: "active",
      phases,
      bars,
    };
  }
  const after = formatElapsed(elapsedMs);
  const cleanup = cleanupText(deadline);
  if (status === "expired") {
    const what =
      expiry === null ? timeIsUp(deadline.phase) : `Expired: ${boundLabel(expiry.limitedBy, expiry.phase)}`;
    const detail = [sentence(expiry?.message ?? ""), cleanup].filter((text) => text !== "").join(" ");
    return { headline: what, detail, state: "expired", phases, bars: [] };
  }
  if (status === "completed")
    return { headline: `Met after ${after}`, detail: cleanup, state: "met", phases, bars: [] };
  return { headline: `Over: ${status} after ${after}`, detail: cleanup, state: "over", phases, bars: [] };
}

/**
 * What is left of the deadline in force, in a few characters: empty when there is none.
 *
 * @param {DeadlineView | null} deadline
 * @param {number} now
 */
export function timeLeft(deadline, now) {
  if (deadline?.status !== "active") return "";
  if (deadline.deadlineAt === null) return "no limit";
  return now >= deadline.deadlineAt ? "time is up" : `${formatDuration(deadline.deadlineAt - now)} left`;
}

/**
 * @param {DeadlineView} deadline
 * @param {number} now
 */
function activeHeadline({ deadlineAt, phase, limitedBy }, now) {
  if (deadlineAt === null) return `In ${phase}, without a limit`;
  if (now >= deadlineAt) return timeIsUp(phase);
  const what = boundLabel(limitedBy ?? "", phase).toLowerCase();
  return `${formatDuration(deadlineAt - now)} left in ${phase}, limited by: ${what}`;
}

/** @param {string} phase */
function timeIsUp(phase) {
  return `Time is up in ${phase}; the gateway is about to say so`;
}

/**
 * @param {DeadlineView} deadline
 * @param {number} lastProgressAt
 * @param {number} now
 * @returns {DeadlineBar[]}
 */
function deadlineBars(deadline, lastProgressAt, now) {
  const bars = Object.entries(deadline.bounds).flatMap(([key, endAt]) =>
    endAt === null ? [] : [deadlineBar(deadline, key, endAt, lastProgressAt, now)],
  );
  return bars.sort((a, b) => Number(b.limits) - Number(a.limits) || a.endAt - b.endAt);
}

/**
 * @param {DeadlineView} deadline
 * @param {string} key
 * @param {number} endAt
 * @param {number} lastProgressAt
 * @param {number} now
 * @returns {DeadlineBar}
 */
function deadlineBar(deadline, key, endAt, lastProgressAt, now) {
  const startAt = Math.min(startOf(deadline, key, lastProgressAt), endAt);
  const span = endAt - startAt;
  const leftMs = Math.max(endAt - now, 0);
  const granted = deadline.budgets[deadline.phase] ?? null;
  const moreMs = key === "budget" && granted !== null ? span - granted : 0;
  const renewedMs = moreMs < SHOWN_RENEWAL_MS ? 0 : moreMs;
  const label = boundLabel(key, deadline.phase);
  const limits = deadline.limitedBy === key;
  const notes = [`${formatDuration(span)} in all`];
  if (renewedMs > 0) {
    const why = deadline.renewable ? "renewed" : "stood still while somebody else's work was waited for";
    notes.push(`${why}, ${formatDuration(renewedMs)} more than at first`);
  }
  return {
    key,
    label,
    limits,
    startAt,
    endAt,
    fraction: span <= 0 ? 1 : Math.min(Math.max((now - startAt) / span, 0), 1),
    renewedFrom: renewedMs > 0 && granted !== null ? granted / span : null,
    left: leftMs === 0 ? "time is up" : `${formatDuration(leftMs)} left`,
    spoken: `${spokenDuration(leftMs)} left of ${spokenDuration(span)}${limits ? ", limits now" : ""}`,
    note: notes.join(", "),
  };
}

/**
 * @param {DeadlineView} deadline
 * @param {string} key
 * @param {number} lastProgressAt
 */
function startOf({ startedAt, phaseEnteredAt }, key, lastProgressAt) {
  if (key === "budget" || key === "phase-ceiling") return phaseEnteredAt;
  return key === "stall" ? lastProgressAt : startedAt;
}

/**
 * @param {string} key
 * @param {string} phase
 */
function boundLabel(key, phase) {
  const label = Object.hasOwn(BOUND_LABELS, key) ? BOUND_LABELS[key] : undefined;
  return label === undefined ? key : label(phase);
}

/**
 * @param {DeadlineView} deadline
 * @returns {PlannedPhase[]}
 */
function plannedPhases({ budgets, phase, status }) {
  const names = Object.keys(budgets);
  const current = names.indexOf(phase);
  return names.map((name, index) => {
    const budgetMs = budgets[name] ?? null;
    const past = index < current || (index === current && status === "completed");
    const here = status === "active" ? "current" : "ended";
    return {
      name,
      state: past ? "past" : index === current ? here : "ahead",
      budget: budgetMs === null ? "no window" : formatDuration(budgetMs),
    };
  });
}

/**
 * Why there is no window to be seen, `null` where there is one.
 *
 * @param {DeadlineView} deadline
 */
function standstill({ pausedAt, pausedBudgetMs, phase }) {
  if (pausedAt === null) return null;
  const left = pausedBudgetMs === null ? "" : `, with ${formatDuration(pausedBudgetMs)} left`;
  return `The window of ${phase} stands still while somebody else's work is waited for${left}.`;
}

/** @param {DeadlineView} deadline */
function rejected({ rejection }) {
  if (rejection === null) return "";
  return `Configuration ${rejection.generation} was rejected: ${rejection.message ?? "without a word why"}`;
}

/** @param {DeadlineView} deadline */
function cleanupText({ cleanup }) {
  const failed = cleanup.error === null ? "" : ` The last try failed: ${cleanup.error}`;
  if (cleanup.status === "pending") return `Its cleanup is under way.${failed}`;
  if (cleanup.status === "done") return "It was cleaned up.";
  return cleanup.status === "none" ? "" : `Cleanup: ${cleanup.status}.${failed}`;
}

/** @param {string} text */
function sentence(text) {
  return text === "" || /[.!?]$/.test(text) ? text : `${text}.`;
}
