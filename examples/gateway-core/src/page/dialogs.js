// @ts-check
import { createFields } from "./create-fields.js";
import { byId, setAttribute, setText } from "./dom.js";

/** @import { Answer } from "./gateway-api.js" */

/** Asks before something is removed for good. The browser keeps the focus inside, and gives it back afterwards. */
export class DeleteDialog {
  #dialog = byId("delete-dialog", HTMLDialogElement);
  #name = byId("delete-name", HTMLElement);

  /**
   * @param {string} name
   * @returns {Promise<boolean>} whether it was confirmed
   */
  ask(name) {
    setText(this.#name, name);
    this.#dialog.returnValue = "";
    this.#dialog.showModal();
    return new Promise((resolve) =>
      this.#dialog.addEventListener("close", () => resolve(this.#dialog.returnValue === "delete"), {
        once: true,
      }),
    );
  }
}

/** The form of a new sandbox. */
export class CreateDialog {
  #dialog = byId("create-dialog", HTMLDialogElement);
  #form = byId("create-form", HTMLFormElement);
  #error = byId("create-error", HTMLElement);
  #submit = byId("create-submit", HTMLButtonElement);

  /**
   * @param {(body: object) => Promise<Answer>} create
   * @param {(answer: Answer & { ok: true }) => void} onCreated
   */
  constructor(create, onCreated) {
    byId("create-open", HTMLButtonElement).addEventListener("click", () => {
      this.#fail(null, "");
      this.#dialog.showModal();
    });
    byId("create-cancel", HTMLButtonElement).addEventListener("click", () => this.#dialog.close());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#send(create, onCreated);
    });
  }

  /**
   * @param {(body: object) => Promise<Answer>} create
   * @param {(answer: Answer & { ok: true }) => void} onCreated
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
    this.#submit.disabled = true;
    const answer = await create(fields.body);
    this.#submit.disabled = false;
    if (!answer.ok) return this.#fail(answer.field, answer.message);
    this.#form.reset();
    this.#dialog.close();
    onCreated(answer);
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
