// @ts-check
import { element, KeyedChildren, setAttribute, setText } from "./dom.js";
import { gatesOf } from "./gates.js";

/** @import { SandboxView } from "../http/view.js" */
/** @import { Gate } from "./gates.js" */

/** @typedef {Gate & { connected: boolean }} ShownGate */

const NOT_CONNECTED = "There is no connection to the gateway.";

/**
 * A button for each operation with what it would do, or why it may not be done. A closed one keeps its place in the
 * tab order: who cannot see it greyed out can still come by and hear why.
 */
export class GateButtons {
  #outcome = element("p", { class: "outcome", role: "status" });
  /** @type {KeyedChildren<ShownGate>} */
  #children;

  /**
   * @param {HTMLElement} parent
   * @param {(operation: string) => void} onOperation
   */
  constructor(parent, onOperation) {
    const list = element("ul", { class: "gates", role: "list" });
    parent.append(list, this.#outcome);
    this.#children = new KeyedChildren(
      list,
      ({ operation }) => operation,
      ({ operation }) => this.#gate(operation, onOperation),
    );
  }

  /**
   * @param {SandboxView["operations"]} operations
   * @param {boolean} connected
   */
  update(operations, connected) {
    this.#children.update(gatesOf(operations).map((gate) => ({ ...gate, connected })));
  }

  /** @param {string} text */
  say(text) {
    setText(this.#outcome, text);
  }

  /**
   * @param {string} operation
   * @param {(operation: string) => void} onOperation
   */
  #gate(operation, onOperation) {
    const id = `why-${operation}`;
    const button = element("button", { type: "button", "aria-describedby": id, "data-operation": operation });
    const why = element("span", { id, class: "gate-why" });
    const rule = element("span", { class: "code gate-rule" });
    const node = element(
      "li",
      { class: "gate" },
      button,
      element("span", { class: "gate-text" }, why, " ", rule),
    );
    let open = false;
    button.addEventListener("click", () => {
      if (open) onOperation(operation);
      else this.say(`Not done. ${why.textContent ?? ""}`);
    });
    /** @param {ShownGate} gate */
    const update = (gate) => {
      open = gate.open && gate.connected;
      setText(button, gate.label);
      setAttribute(button, "aria-disabled", open ? null : "true");
      setText(why, gate.connected ? gate.why : NOT_CONNECTED);
      setText(rule, gate.rule);
    };
    return { node, update };
  }
}
