// @ts-check
import { timeLeft } from "./deadline-bars.js";
import { barOf, runningStep } from "./steps.js";

/** @import { SandboxView } from "../http/view.js" */
/** @import { ProgressBar } from "./steps.js" */

/** @typedef {"good" | "busy" | "bad" | "idle" | "unsure"} Tone */

/**
 * @typedef {object} Summary
 * @property {string} name
 * @property {string} phase
 * @property {Tone} tone
 * @property {string} text what it says about itself, in one line
 * @property {ProgressBar | null} bar the step under way
 * @property {string} left
 */

/** @type {Readonly<Record<string, Tone>>} */
const TONES = {
  Provisioning: "busy",
  Starting: "busy",
  Ready: "good",
  Stopping: "busy",
  Stopped: "idle",
  Completed: "good",
  Error: "bad",
  Deleting: "busy",
  Deleted: "idle",
};

/** Beside the colour, for those who do not see it. */
const SYMBOLS = Object.freeze({ good: "✓", busy: "…", bad: "✕", idle: "■", unsure: "?" });

/**
 * The tone of a phase; one that this page does not know is unsure.
 *
 * @param {string} phase
 * @returns {Tone}
 */
export function toneOf(phase) {
  return (Object.hasOwn(TONES, phase) ? TONES[phase] : undefined) ?? "unsure";
}

/** @param {Tone} tone */
export function symbolOf(tone) {
  return SYMBOLS[tone];
}

/**
 * A sandbox in one row.
 *
 * @param {SandboxView} view
 * @param {number} now
 * @returns {Summary}
 */
export function summaryOf(view, now) {
  const step = runningStep(view.steps);
  return {
    name: view.name,
    phase: view.phase,
    tone: toneOf(view.phase),
    text: textOf(view),
    bar: step === undefined || !isTicking(view) ? null : barOf(step, now),
    left: timeLeft(view.deadline, now),
  };
}

/**
 * Whether what is shown of it changes with the time alone.
 *
 * @param {SandboxView} view
 */
export function isTicking(view) {
  return view.deadline?.status === "active";
}

/** @param {SandboxView} view */
function textOf({ message, reason, deadline }) {
  // What an attempt waits for is the repair of its configuration, and nothing else will come of it.
  const rejection = deadline?.status === "active" ? (deadline.rejection?.message ?? null) : null;
  if (rejection !== null) return `Configuration rejected: ${rejection}`;
  return message === "" ? reason : message;
}
