// @ts-check
import { deadlineSummary } from "./deadline-bars.js";
import { conditionRow, deadlineLine, factLine, phaseStep, stepLine } from "./detail-lines.js";
import { byId, KeyedChildren, setAttribute, setText, show } from "./dom.js";
import { factsOf } from "./facts.js";
import { GateButtons } from "./gate-buttons.js";
import { formatAgo } from "./quantities.js";
import { stepLines } from "./steps.js";
import { isTicking, symbolOf, toneOf } from "./summary.js";

/** @import { SandboxView } from "../http/view.js" */

/** One sandbox in full. Its elements are there once; another sandbox is other text in them. */
export class DetailPane {
  #none = byId("detail-none", HTMLElement);
  #body = byId("detail-body", HTMLElement);
  #name = byId("detail-name", HTMLElement);
  #phase = byId("detail-phase", HTMLElement);
  #since = byId("detail-since", HTMLElement);
  #reason = byId("detail-reason", HTMLElement);
  #message = byId("detail-message", HTMLElement);
  #headline = byId("deadline-headline", HTMLElement);
  #deadlineDetail = byId("deadline-detail", HTMLElement);
  #noSteps = byId("steps-none", HTMLElement);
  #phases = new KeyedChildren(byId("deadline-phases", HTMLElement), ({ name }) => name, phaseStep);
  #bars = new KeyedChildren(byId("deadline-bars", HTMLElement), ({ key }) => key, deadlineLine);
  #steps = new KeyedChildren(byId("steps", HTMLElement), ({ key }) => key, stepLine);
  #conditions = new KeyedChildren(byId("conditions", HTMLElement), ({ type }) => type, conditionRow);
  #facts = new KeyedChildren(byId("facts", HTMLElement), ({ term }) => term, factLine);
  /** @type {GateButtons} */
  #gates;
  /** @type {string | null} */
  #shown = null;

  /** @param {(operation: string) => void} onOperation */
  constructor(onOperation) {
    this.#gates = new GateButtons(byId("gates", HTMLElement), onOperation);
  }

  focus() {
    (this.#shown === null ? this.#none : this.#name).focus();
  }

  get hasFocus() {
    return this.#body.contains(document.activeElement);
  }

  /**
   * Shows nothing but a word why.
   *
   * @param {string} why
   */
  clear(why) {
    this.#shown = null;
    setText(this.#none, why);
    show(this.#none, true);
    show(this.#body, false);
  }

  /**
   * @param {SandboxView} view
   * @param {number} now
   * @param {boolean} connected
   */
  update(view, now, connected) {
    if (this.#shown !== view.id) this.#gates.say("");
    this.#shown = view.id;
    show(this.#none, false);
    show(this.#body, true);
    const tone = toneOf(view.phase);
    setText(this.#name, view.name);
    setText(this.#phase, `${symbolOf(tone)} ${view.phase}`);
    setAttribute(this.#phase, "data-tone", tone);
    setText(this.#since, `since ${clockTime(view.since)} (${formatAgo(view.since, now)})`);
    setText(this.#reason, view.reason);
    setText(this.#message, view.message);
    this.#gates.update(view.operations, connected);
    this.#updateDeadline(view, now);
    const lines = stepLines(view.steps, now, isTicking(view));
    this.#steps.update(lines);
    show(this.#noSteps, lines.length === 0);
    this.#conditions.update(view.conditions);
    this.#facts.update(factsOf(view, now));
  }

  /**
   * What came of an operation, beside its button.
   *
   * @param {string} text
   */
  say(text) {
    this.#gates.say(text);
  }

  /**
   * @param {SandboxView} view
   * @param {number} now
   */
  #updateDeadline(view, now) {
    const { headline, detail, state, phases, bars } = deadlineSummary(view, now);
    setText(this.#headline, headline);
    setAttribute(this.#headline, "data-state", state);
    setText(this.#deadlineDetail, detail);
    show(this.#deadlineDetail, detail !== "");
    this.#phases.update(phases);
    this.#bars.update(bars);
  }
}

const times = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** @param {number} at */
function clockTime(at) {
  return times.format(at);
}
