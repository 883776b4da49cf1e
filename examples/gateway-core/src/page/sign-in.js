// @ts-check
import { byId, setText, show } from "./dom.js";

/** Asks for the owner's token where the gateway wants one. */
export class SignIn {
  #section = byId("sign-in", HTMLElement);
  #content = byId("content", HTMLElement);
  #error = byId("sign-in-error", HTMLElement);
  #token = byId("token", HTMLInputElement);
  #forget = byId("sign-out", HTMLButtonElement);

  /**
   * @param {(token: string) => void} onToken
   * @param {() => void} onForget
   */
  constructor(onToken, onForget) {
    byId("sign-in-form", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      const token = this.#token.value.trim();
      this.#token.value = "";
      if (token !== "") onToken(token);
    });
    this.#forget.addEventListener("click", onForget);
  }

  /** @param {string} why */
  ask(why) {
    show(this.#section, true);
    show(this.#content, false);
    show(this.#forget, false);
    setText(this.#error, why);
    this.#token.focus();
  }

  /** @param {boolean} withToken */
  done(withToken) {
    const asked = !this.#section.hidden;
    show(this.#section, false);
    show(this.#content, true);
    show(this.#forget, withToken);
    if (asked) byId("list-heading", HTMLElement).focus();
  }
}
