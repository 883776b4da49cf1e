// @ts-check

/**
 * @typedef {object} ModalDialog what a question needs of an `HTMLDialogElement`
 * @property {boolean} open
 * @property {string} returnValue
 * @property {() => void} showModal
 * @property {(returnValue?: string) => void} close
 * @property {(type: "close", listener: () => void) => void} addEventListener
 */

/**
 * Asks something in a modal dialog, again and again; each time it is asked has its own answer.
 *
 * A browser tells of a close with the next frame only, and by then the dialog may be open for the next question: what
 * is told late answers nothing that was asked since.
 */
export class Question {
  /** @type {ModalDialog} */
  #dialog;
  /** @type {((answer: string) => void) | null} */
  #answer = null;

  /** @param {ModalDialog} dialog */
  constructor(dialog) {
    this.#dialog = dialog;
    dialog.addEventListener("close", () => {
      if (!dialog.open) this.#settle();
    });
  }

  /**
   * Opens the dialog. The browser keeps the focus inside, and gives it back afterwards.
   *
   * @returns {Promise<string>} the value of the button that closed it, empty when it was closed otherwise
   */
  ask() {
    // An earlier question that was answered, and nothing told so yet.
    this.#settle();
    this.#dialog.returnValue = "";
    this.#dialog.showModal();
    return new Promise((resolve) => (this.#answer = resolve));
  }

  /** Takes back a question that is open: there is nothing to decide any more. */
  withdraw() {
    if (!this.#dialog.open) return;
    this.#dialog.close("");
    this.#settle();
  }

  #settle() {
    const answer = this.#answer;
    this.#answer = null;
    answer?.(this.#dialog.returnValue);
  }
}
