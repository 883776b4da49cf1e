// @ts-check
import { WorkBar } from "./bar.js";
import { element, setAttribute, setText, show } from "./dom.js";
import { isTicking, summaryOf, symbolOf } from "./summary.js";

/** @import { SandboxView } from "../http/view.js" */
/** @import { Sandboxes } from "./sandboxes.js" */

const byName = new Intl.Collator("en", { numeric: true });

/** One row; it is made once and stays the same elements until its sandbox is gone. */
class Row {
  link;
  #phase = element("span", { class: "phase" });
  #text = element("span", { class: "row-text" });
  #left = element("span", { class: "row-left" });
  #work = new WorkBar();
  #workText = element("span", { class: "row-work-text" });
  #workLine = element("div", { class: "row-work" }, this.#work.node, this.#workText);
  node = element("li", { class: "row" });

  /** @param {SandboxView} view */
  constructor({ id, name }) {
    this.name = name;
    this.id = id;
    this.link = element("a", { href: `#${encodeURIComponent(id)}`, class: "row-name" }, name);
    this.#phase.id = `phase-of-${id}`;
    setAttribute(this.link, "aria-describedby", this.#phase.id);
    this.node.append(this.link, this.#phase, this.#text, this.#left, this.#workLine);
  }

  /**
   * @param {SandboxView} view
   * @param {number} now
   */
  update(view, now) {
    const { phase, tone, text, bar, left } = summaryOf(view, now);
    setText(this.#phase, `${symbolOf(tone)} ${phase}`);
    setAttribute(this.#phase, "data-tone", tone);
    setText(this.#text, text);
    setText(this.#left, left);
    show(this.#workLine, bar !== null);
    if (bar !== null) {
      this.#work.update(`Work on ${this.name}`, bar);
      setText(this.#workText, bar.text);
    }
  }
}

/** All sandboxes by name. A change of one touches its own row and no other. */
export class ListPane {
  /** @type {Sandboxes} */
  #sandboxes;
  /** @type {{ list: HTMLElement, filter: HTMLInputElement, count: HTMLElement, empty: HTMLElement, heading: HTMLElement }} */
  #parts;
  /** @type {Map<string, Row>} */
  #rows = new Map();
  /** @type {Row[]} */
  #sorted = [];
  /** @type {string | null} */
  #selected = null;

  /**
   * @param {Sandboxes} sandboxes
   * @param {{ list: HTMLElement, filter: HTMLInputElement, count: HTMLElement, empty: HTMLElement, heading: HTMLElement }} parts
   */
  constructor(sandboxes, parts) {
    this.#sandboxes = sandboxes;
    this.#parts = parts;
    parts.filter.addEventListener("input", () => this.#filterAll());
    parts.list.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /**
   * Shows these sandboxes as they are now.
   *
   * @param {Iterable<string>} ids
   * @param {number} now
   */
  update(ids, now) {
    for (const id of ids) {
      const view = this.#sandboxes.get(id);
      const row = this.#rows.get(id);
      if (view !== undefined) (row ?? this.#insert(view)).update(view, now);
      else if (row !== undefined) this.#remove(row);
    }
    this.#showCount();
  }

  /**
   * Shows the passing of time.
   *
   * @param {number} now
   */
  tick(now) {
    for (const view of this.#sandboxes.values()) {
      if (isTicking(view)) this.#rows.get(view.id)?.update(view, now);
    }
  }

  /** @param {string | null} id */
  select(id) {
    this.#mark(this.#selected, null);
    this.#selected = id;
    this.#mark(id, "true");
  }

  /** Puts the focus on the row of a sandbox, or on the list's heading when there is none. */
  focusSelected() {
    const row = this.#selected === null ? undefined : this.#rows.get(this.#selected);
    (row === undefined || row.node.hidden ? this.#parts.heading : row.link).focus();
  }

  /**
   * @param {string | null} id
   * @param {string | null} current
   */
  #mark(id, current) {
    const row = id === null ? undefined : this.#rows.get(id);
    if (row !== undefined) setAttribute(row.link, "aria-current", current);
  }

  /** @param {SandboxView} view */
  #insert(view) {
    const row = new Row(view);
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = /** @type {Row} */ (this.#sorted[middle]);
      if ((byName.compare(other.name, row.name) || compare(other.id, row.id)) < 0) low = middle + 1;
      else high = middle;
    }
    this.#parts.list.insertBefore(row.node, this.#sorted[low]?.node ?? null);
    this.#sorted.splice(low, 0, row);
    this.#rows.set(view.id, row);
    show(row.node, this.#matches(row));
    if (view.id === this.#selected) this.#mark(view.id, "true");
    return row;
  }

  /** @param {Row} row */
  #remove(row) {
    const index = this.#sorted.indexOf(row);
    const focused = row.node.contains(document.activeElement);
    this.#sorted.splice(index, 1);
    this.#rows.delete(row.id);
    const shown = this.#sorted.filter(({ node }) => !node.hidden);
    const next = shown.find((other) => this.#sorted.indexOf(other) >= index) ?? shown.at(-1);
    row.node.remove();
    if (focused) (next?.link ?? this.#parts.heading).focus();
  }

  /** @param {Row} row */
  #matches(row) {
    return row.name.includes(this.#parts.filter.value.trim().toLowerCase());
  }

  #filterAll() {
    for (const row of this.#sorted) show(row.node, this.#matches(row));
    this.#showCount();
  }

  #showCount() {
    const all = this.#sorted.length;
    const shown = this.#sorted.reduce((count, { node }) => count + (node.hidden ? 0 : 1), 0);
    const noun = all === 1 ? "sandbox" : "sandboxes";
    setText(this.#parts.count, shown === all ? `${all} ${noun}` : `${shown} of ${all} ${noun}`);
    show(this.#parts.empty, shown === 0 && this.#sandboxes.complete);
    setText(this.#parts.empty, all === 0 ? "There is no sandbox yet." : "No name contains that.");
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const shown = this.#sorted.filter(({ node }) => !node.hidden);
    const at = shown.findIndex(({ link }) => link === document.activeElement);
    if (at === -1 || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const steps = /** @type {Readonly<Record<string, number>>} */ ({
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: shown.length - 1,
    });
    const to = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined;
    if (to === undefined) return;
    event.preventDefault();
    shown[Math.min(Math.max(to, 0), shown.length - 1)]?.link.focus();
  }
}

/**
 * @param {string} a
 * @param {string} b
 */
function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
