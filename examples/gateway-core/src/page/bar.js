// @ts-check
import { element, setAttribute } from "./dom.js";

/** @import { ProgressBar } from "./steps.js" */
/** @import { DeadlineBar } from "./deadline-bars.js" */

/** A bar of work done, for eyes and for screen readers. */
export class WorkBar {
  #fill = element("span", { class: "bar-fill" });
  node = element(
    "div",
    { class: "bar", role: "progressbar", "aria-valuemin": "0", "aria-valuemax": "100" },
    this.#fill,
  );

  /**
   * @param {string} label
   * @param {ProgressBar} bar
   */
  update(label, { percent, text }) {
    setAttribute(this.node, "aria-label", label);
    setAttribute(this.node, "aria-valuetext", text);
    // Without a value a progress bar is one of unknown length.
    setAttribute(this.node, "aria-valuenow", percent === null ? null : String(percent));
    this.node.classList.toggle("bar-unknown", percent === null);
    scale(this.#fill, percent === null ? 1 : percent / 100);
  }
}

/** A bar of time gone by, with a mark where a renewed window would have ended. */
export class TimeBar {
  #fill = element("span", { class: "bar-fill" });
  #mark = element("span", { class: "bar-mark" });
  node = element(
    "div",
    { class: "bar bar-time", role: "meter", "aria-valuemin": "0" },
    this.#fill,
    this.#mark,
  );

  /** @param {DeadlineBar} bar */
  update({ label, limits, startAt, endAt, fraction, renewedFrom, spoken }) {
    const span = Math.max(Math.round((endAt - startAt) / 1000), 1);
    setAttribute(this.node, "aria-label", label);
    setAttribute(this.node, "aria-valuemax", String(span));
    setAttribute(this.node, "aria-valuenow", String(Math.round(span * (1 - fraction))));
    setAttribute(this.node, "aria-valuetext", spoken);
    this.node.classList.toggle("bar-limits", limits);
    scale(this.#fill, fraction);
    this.#mark.hidden = renewedFrom === null;
    if (renewedFrom !== null) this.#mark.style.left = `${(renewedFrom * 100).toFixed(2)}%`;
  }
}

/**
 * @param {HTMLElement} fill
 * @param {number} fraction
 */
function scale(fill, fraction) {
  fill.style.transform = `scaleX(${fraction.toFixed(4)})`;
}
