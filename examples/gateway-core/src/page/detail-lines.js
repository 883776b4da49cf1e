// @ts-check
import { TimeBar, WorkBar } from "./bar.js";
import { element, setAttribute, setText, show } from "./dom.js";

/** @import { SandboxView } from "../http/view.js" */
/** @import { DeadlineBar, PlannedPhase } from "./deadline-bars.js" */
/** @import { Fact } from "./facts.js" */
/** @import { StepLine } from "./steps.js" */

/** @typedef {SandboxView["conditions"][number]} Condition */

const PHASE_WORDS = Object.freeze({ past: "over", current: "now", ended: "ended here", ahead: "to come" });

/** A phase of the deadline's plan. */
export function phaseStep() {
  const name = element("span", { class: "plan-name" });
  const note = element("span", { class: "plan-note" });
  const node = element("li", { class: "plan-phase" }, name, " ", note);
  /** @param {PlannedPhase} phase */
  const update = (phase) => {
    setText(name, phase.name);
    setText(note, `${PHASE_WORDS[phase.state]}, ${phase.budget}`);
    setAttribute(node, "data-state", phase.state);
    setAttribute(node, "aria-current", phase.state === "current" ? "step" : null);
  };
  return { node, update };
}

/** A bound of the deadline, with its bar. */
export function deadlineLine() {
  const label = element("span", { class: "line-title" });
  const limits = element("span", { class: "badge" }, "limits");
  const left = element("span", { class: "line-end" });
  const note = element("span", { class: "line-note" });
  const bar = new TimeBar();
  const head = element("div", { class: "line-head" }, label, limits, left);
  const node = element("li", { class: "line" }, head, bar.node, note);
  /** @param {DeadlineBar} item */
  const update = (item) => {
    setText(label, item.label);
    show(limits, item.limits);
    setText(left, item.left);
    setText(note, item.note);
    bar.update(item);
  };
  return { node, update };
}

/** A step of the driver's work, with its bar. */
export function stepLine() {
  const title = element("span", { class: "line-title" });
  const end = element("span", { class: "line-end" });
  const note = element("span", { class: "line-note" });
  const bar = new WorkBar();
  const node = element(
    "li",
    { class: "line" },
    element("div", { class: "line-head" }, title, end),
    bar.node,
    note,
  );
  /** @param {StepLine} item */
  const update = (item) => {
    const what = `${item.title}: ${item.subject}`;
    setText(title, item.state === "finished" ? `✓ ${what}` : what);
    setText(end, item.elapsed);
    setText(note, item.bar.text);
    bar.update(what, item.bar);
  };
  return { node, update };
}

/** A condition as a row of their table. */
export function conditionRow() {
  const type = element("th", { scope: "row" });
  const status = element("td", { class: "condition-status" });
  const reason = element("span", { class: "code" });
  const message = element("span", { class: "condition-message" });
  const cause = element("span", { class: "condition-message" });
  const node = element("tr", {}, type, status, element("td", {}, reason, message, cause));
  /** @param {Condition} item */
  const update = (item) => {
    setText(type, item.type);
    setText(status, item.status);
    setText(reason, item.reason);
    setText(message, item.message);
    setText(
      cause,
      item.cause === undefined ? "" : `Cause: ${item.cause.reason}. ${item.cause.message ?? ""}`,
    );
  };
  return { node, update };
}

/** A term and what it is here. */
export function factLine() {
  const term = element("dt");
  const text = element("dd");
  const node = element("div", { class: "fact" }, term, text);
  /** @param {Fact} item */
  const update = (item) => {
    setText(term, item.term);
    setText(text, item.text);
  };
  return { node, update };
}
