// @ts-check
import { createFields } from "./create-fields.js";
import { byId, setAttribute, setText } from "./dom.js";
import { Question } from "./question.js";

/** @import { Answer } from "./gateway-api.js" */

/** Asks before something is removed for good. */
export class DeleteDialog {
  #question = new Question(byId("delete-dialog", HTMLDialogElement));
  #name = byId("delete-name", HTMLElement);

  /**
   * @param {string} name
   * @returns {Promise<boolean>} whether it was confirmed
   */
  async ask(name) {
    setText(this.#name, name);
    return (await this.#question.ask()) === "delete";
  }

  /** What was asked about is gone, or nobody may be asked any more. */
  withdraw() {
    this.#question.withdraw();
  }
}

/** The form of a new sandbox. */
export class CreateDialog {
  #dialog = byId("create-dialog", HTMLDialogElement);
  #form = byId("create-form", HTMLFormElement);
  #error = byId("create-error", HTMLElement);
  #submit = byId("create-submit", HTMLButtonElement);
  /** Counts how often it was opened: an answer is shown to whoever still waits for it. */
  #opened = 0;
  #sending = false;

  /**
   * @param {(body: object) => Promise<Answer>} create
   * @param {(answer: Answer & { ok: true }, awaited: boolean) => void} onCreated `awaited`: the dialog was open for it
   */
  constructor(create, onCreated) {
    byId("create-open", HTMLButtonElement).addEventListener("click", () => {
      this.#fail(null, "");
      this.#opened += 1;
      this.#dialog.showModal();
    });
    byId("create-cancel", HTMLButtonElement).addEventListener("click", () => this.#dialog.close());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.#sending) void this.#send(create, onCreated);
    });
  }

  /** Nobody may create anything any more; what was written stays. */
  withdraw() {
    this.#dialog.close();
  }

  /**
   * @param {(body: object) => Promise<Answer>} create
   * @param {(answer: Answer & { ok: true }, awaited: boolean) => void} onCreated
   */
  async #send(create, onCreated) {
    const written = new FormData(this.#form);
    /** @param {string} field */
    const text = (field) => String(written.get(field) ?? "");
    const fields = createFields({
      name: text("name"),
      image: text("image"),
      command: text("command"),
      driver: text("driver"),
      policy: text("policy"),
      driverOptions: text("driverOptions"),
    });
    if (!fields.ok) return this.#fail(fields.field, fields.message);
    const opened = this.#opened;
    this.#wait(true);
    const answer = await create(fields.body);
    this.#wait(false);
    const awaited = this.#dialog.open && opened === this.#opened;
    if (!answer.ok) {
      if (awaited) this.#fail(answer.field, answer.message);
      return;
    }
    if (awaited) {
      this.#form.reset();
      this.#dialog.close();
    }
    onCreated(answer, awaited);
  }

  /**
   * The button cannot be used while an answer is awaited, and still keeps the focus: a disabled one would lose it.
   *
   * @param {boolean} sending
   */
  #wait(sending) {
    this.#sending = sending;
    setAttribute(this.#submit, "aria-disabled", sending ? "true" : null);
  }

  /**
   * Says what is wrong, and goes to the field that it is in.
   *
   * @param {string | null} field
   * @param {string} message
   */
  #fail(field, message) {
    setText(this.#error, message);
    const top = field?.split(/[.[]/)[0] ?? "";
    for (const input of this.#form.querySelectorAll("input, textarea")) {
      const wrong = message !== "" && input.getAttribute("name") === top;
      setAttribute(input, "aria-invalid", wrong ? "true" : null);
      setAttribute(input, "aria-errormessage", wrong ? this.#error.id : null);
      if (wrong && input instanceof HTMLElement) {
        input.closest("details")?.setAttribute("open", "");
        input.focus();
      }
    }
  }
}
