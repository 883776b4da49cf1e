// @ts-check
import { formatElapsed, formatSize } from "./quantities.js";

/** @import { StepView } from "../http/step-view.js" */

/**
 * @typedef {object} ProgressBar
 * @property {number | null} percent 0 to 100, `null` when nobody knows the total
 * @property {string} text for eyes and ears alike
 */

/**
 * @typedef {object} StepLine
 * @property {string} key
 * @property {string} title
 * @property {string} subject
 * @property {"running" | "finished" | "broken"} state
 * @property {ProgressBar} bar
 * @property {string} elapsed
 */

/** From here on silence is worth a word, and the rate of before is none. */
const QUIET_MS = 10_000;

/**
 * The steps of the driver's work that began, as lines with a bar each. What they say is what the library's `formatStep`
 * says on a terminal.
 *
 * @param {readonly StepView[]} steps
 * @param {number} now
 * @param {boolean} active whether the attempt goes on: of one that is over, no step does
 * @returns {StepLine[]}
 */
export function stepLines(steps, now, active) {
  return steps
    .filter(({ status }) => status !== "waiting")
    .map((step) => {
      const state = step.finished ? "finished" : active ? "running" : "broken";
      return {
        key: step.step,
        title: step.finished ? step.label : step.activeLabel,
        subject: step.subject,
        state,
        bar: state === "broken" ? brokenBar(step) : barOf(step, now),
        elapsed: formatElapsed(state === "running" ? now - (step.startedAt ?? now) : step.elapsedMs),
      };
    });
}

/**
 * Of the steps under way the one that was heard of last, and of equals the later one.
 *
 * @param {readonly StepView[]} steps
 * @returns {StepView | undefined}
 */
export function runningStep(steps) {
  const running = steps.filter(({ status }) => status === "running");
  const heardAt = Math.max(...running.map((step) => step.heardAt ?? 0));
  return running.findLast((step) => (step.heardAt ?? 0) === heardAt);
}

/**
 * @param {StepView} step
 * @param {number} now
 * @returns {ProgressBar}
 */
export function barOf(step, now) {
  const facts = step.finished ? resultOf(step) : stateOf(step, now);
  if (step.finished) return { percent: 100, text: [...facts, "done"].join(", ") };
  return { percent: step.percent, text: facts.length === 0 ? "under way" : facts.join(", ") };
}

/**
 * @param {StepView} step
 * @returns {ProgressBar}
 */
function brokenBar(step) {
  return { percent: step.percent ?? 0, text: [...amountOf(step), "broken off"].join(", ") };
}

/**
 * What a finished step has to say beside its name and its time.
 *
 * @param {StepView} step
 * @returns {string[]}
 */
function resultOf({ position, unit }) {
  return position === null ? [] : [quantity(position, unit)];
}

/**
 * What a step under way has to say beside its name and its time.
 *
 * @param {StepView} step
 * @param {number} now
 * @returns {string[]}
 */
function stateOf(step, now) {
  const { position, percent, perSecond, unit, heardAt } = step;
  const facts = amountOf(step);
  const quietMs = now - (heardAt ?? now);
  if (position !== null) {
    if (percent !== null) facts.push(`${percent} %`);
    if (perSecond !== null && quietMs < QUIET_MS) facts.push(`${quantity(perSecond, unit)}/s`);
  }
  if (quietMs >= QUIET_MS) facts.push(`silent for ${formatElapsed(quietMs)}`);
  return facts;
}

/**
 * @param {StepView} step
 * @returns {string[]}
 */
function amountOf({ position, total, unit }) {
  if (position === null) return [];
  // An estimate that was too low is no longer worth showing.
  const of = total !== null && total > 0 && position <= total ? ` of ${quantity(total, unit)}` : "";
  return [`${quantity(position, unit)}${of}`];
}

/**
 * @param {number} value
 * @param {string} unit
 */
function quantity(value, unit) {
  return unit === "bytes" ? formatSize(value) : `${value.toFixed(1).replace(/\.0$/, "")} ${unit}`;
}
