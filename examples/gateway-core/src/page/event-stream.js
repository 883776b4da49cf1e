// @ts-check
import { EventText } from "./event-text.js";

/** @import { ServerEvent } from "./event-text.js" */

/** @typedef {"connecting" | "live" | "lost" | "unauthorized" | "gone"} StreamState */

/**
 * @typedef {object} EventStreamOptions
 * @property {(lastEventId: string | null, signal: AbortSignal) => Promise<Response>} open
 * @property {(event: ServerEvent) => void} onEvent
 * @property {(state: StreamState, detail: string) => void} onState
 * @property {(ms: number, signal: AbortSignal) => Promise<void>} wait resolves early when aborted
 */

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 4000;

/**
 * The wait before the next try, after so many that failed in a row.
 *
 * @param {number} failures
 */
export function waitAfter(failures) {
  return Math.min(FIRST_WAIT_MS * 2 ** Math.max(failures - 1, 0), LONGEST_WAIT_MS);
}

/** Follows a stream for as long as it is wanted, and takes it up after a break where it was. */
export class EventStream {
  /** @type {EventStreamOptions} */
  #options;
  #closing = new AbortController();
  /** Ends what is waited for now: the connection, or the wait for the next. */
  #current = new AbortController();
  /** @type {string | null} */
  #lastEventId = null;
  #failures = 0;
  /** While it rests: what wakes it. @type {{ promise: Promise<void>, wake: () => void } | null} */
  #rest = null;

  /** @param {EventStreamOptions} options */
  constructor(options) {
    this.#options = options;
  }

  /** Follows the stream until it is closed, or nothing can come of it any more. */
  async run() {
    while (!this.#closing.signal.aborted) {
      await this.#rest?.promise;
      if (this.#closing.signal.aborted) return;
      this.#current = new AbortController();
      const over = await this.#follow(this.#current.signal);
      if (over || this.#closing.signal.aborted) return;
      if (this.#rest !== null) continue;
      this.#failures += 1;
      await this.#options.wait(waitAfter(this.#failures), this.#current.signal);
    }
  }

  /** Tries again now, whether the connection is thought to be fine or a wait is under way. */
  retry() {
    this.#failures = 0;
    this.#current.abort();
  }

  /** Lets go of the connection until it is woken: a browser grants few to one address, and hidden pages need none. */
  rest() {
    if (this.#rest !== null) return;
    let wake = () => {};
    /** @type {Promise<void>} */
    const promise = new Promise((resolve) => (wake = resolve));
    this.#rest = { promise, wake };
    this.#current.abort();
  }

  /** Takes the stream up again where it was. */
  wake() {
    const rest = this.#rest;
    this.#rest = null;
    this.#failures = 0;
    rest?.wake();
  }

  close() {
    this.#closing.abort();
    this.wake();
    this.#current.abort();
  }

  /**
   * @param {AbortSignal} signal
   * @returns {Promise<boolean>} whether it is of no use to try again
   */
  async #follow(signal) {
    const { open, onState } = this.#options;
    let detail = "";
    try {
      if (this.#failures === 0) onState("connecting", "");
      const response = await open(this.#lastEventId, signal);
      if (response.ok && response.body !== null) {
        onState("live", "");
        await this.#read(response.body);
      } else {
        await response.body?.cancel();
        if (response.status === 401) return this.#end("unauthorized");
        if (response.status === 404) return this.#end("gone");
        detail = `the gateway answered ${response.status}`;
      }
    } catch (error) {
      detail = error instanceof Error ? error.message : String(error);
    }
    if (!this.#closing.signal.aborted && this.#rest === null) onState("lost", detail);
    return false;
  }

  /** @param {StreamState} state */
  #end(state) {
    if (!this.#closing.signal.aborted) this.#options.onState(state, "");
    return true;
  }

  /** @param {ReadableStream<Uint8Array>} body */
  async #read(body) {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const text = new EventText();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const event of text.push(decoder.decode(value, { stream: true }))) {
        if (this.#closing.signal.aborted) return;
        this.#options.onEvent(event);
        // Only now: an event that could not be taken in is asked for again.
        if (event.id !== undefined) this.#lastEventId = event.id;
        this.#failures = 0;
      }
    }
  }
}
