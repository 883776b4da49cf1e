// @ts-check

/**
 * @typedef {object} ServerEvent
 * @property {string} event
 * @property {string} data
 * @property {string | undefined} id
 */

/**
 * Reads the text of an event stream piece by piece, wherever it was cut. A bare import of a library needs a build
 * step, and the browser's own EventSource sends no token; the dialect is the HTML standard's, without `retry`.
 */
export class EventText {
  #rest = "";
  #afterReturn = false;
  #event = "";
  /** @type {string[]} */
  #data = [];
  /** @type {string | undefined} */
  #id;

  /**
   * The events that this piece completes.
   *
   * @param {string} piece
   * @returns {ServerEvent[]}
   */
  push(piece) {
    let text = piece;
    // A line that ended with the last piece's carriage return: its line feed is no further line.
    if (this.#afterReturn && text.startsWith("\n")) text = text.slice(1);
    if (piece !== "") this.#afterReturn = piece.endsWith("\r");
    const lines = (this.#rest + text).split(/\r\n|\r|\n/);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  /**
   * @param {string} line
   * @returns {ServerEvent | null}
   */
  #line(line) {
    if (line === "") return this.#finish();
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return null;
  }

  /** @returns {ServerEvent | null} */
  #finish() {
    const found = {
      event: this.#event === "" ? "message" : this.#event,
      data: this.#data.join("\n"),
      id: this.#id,
    };
    const complete = this.#data.length > 0;
    this.#event = "";
    this.#data = [];
    this.#id = undefined;
    return complete ? found : null;
  }
}
