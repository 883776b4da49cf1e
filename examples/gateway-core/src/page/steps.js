// @ts-check
import { formatBytes, formatDuration } from "./quantities.js";

/** @import { StepView } from "../record/record.js" */

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

/**
 * The steps of the driver's work as lines with a bar each.
 *
 * @param {readonly StepView[]} steps
 * @param {number} now
 * @param {boolean} active whether the attempt goes on: of one that is over, no step does
 * @returns {StepLine[]}
 */
export function stepLines(steps, now, active) {
  return steps.map((step) => {
    const state = step.finishedAt !== null ? "finished" : active ? "running" : "broken";
    return {
      key: step.step,
      title: state === "finished" ? step.label : runningLabel(step.label),
      subject: step.subject,
      state,
      bar: state === "broken" ? brokenBar(step) : barOf(step),
      elapsed: formatDuration((step.finishedAt ?? (active ? now : step.updatedAt)) - step.startedAt),
    };
  });
}

/**
 * The step under way, of several the latest.
 *
 * @param {readonly StepView[]} steps
 * @returns {StepView | undefined}
 */
export function runningStep(steps) {
  return steps.findLast((step) => step.finishedAt === null);
}

/**
 * @param {StepView} step
 * @returns {ProgressBar}
 */
export function barOf(step) {
  const size = sizeOf(step);
  if (step.finishedAt !== null) return { percent: 100, text: size === "" ? "done" : `${size}, done` };
  const percent = percentOf(step);
  const rate = rateOf(step);
  const parts = [size, percent === null ? "" : `${percent} %`, rate].filter((part) => part !== "");
  return { percent, text: parts.length === 0 ? "under way" : parts.join(", ") };
}

/**
 * @param {StepView} step
 * @returns {ProgressBar}
 */
function brokenBar(step) {
  const size = sizeOf(step);
  return { percent: percentOf(step) ?? 0, text: size === "" ? "broken off" : `${size}, broken off` };
}

/**
 * What a step that will be called `Image copied` is called before: `Image being copied`.
 *
 * @param {string} label
 * @returns {string}
 */
export function runningLabel(label) {
  return label.replace(/^(\w+) (\w+)$/, "$1 being $2");
}

/** @param {StepView} step */
function sizeOf({ unit, position, total, finishedAt }) {
  if (unit !== "bytes" || position === null) return "";
  const of = total === null || finishedAt !== null ? "" : ` of ${formatBytes(total)}`;
  return `${formatBytes(position)}${of}`;
}

/**
 * Below 100 until the step says that it is finished: the last byte is not the end of the work.
 * Multiplied first: a hundred times 29/100 is less than 29.
 *
 * @param {StepView} step
 */
function percentOf({ position, total }) {
  if (position === null || total === null || total <= 0) return null;
  return Math.min(Math.max(Math.floor((position * 100) / total), 0), 99);
}

/** @param {StepView} step */
function rateOf({ unit, position, startedAt, updatedAt }) {
  const worked = updatedAt - startedAt;
  return unit === "bytes" && position !== null && position > 0 && worked > 0
    ? `${formatBytes((position / worked) * 1000)}/s`
    : "";
}
