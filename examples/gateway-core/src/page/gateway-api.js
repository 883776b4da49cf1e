// @ts-check
/** @import { SandboxView } from "../http/view.js" */

/**
 * @typedef {{ ok: true, view: SandboxView }
 *   | { ok: false, status: number, field: string | null, message: string }} Answer
 */

const TOKEN_KEY = "slipway-owner-token";
/** Reasons are only shown here, so the newest contract will do, whichever it is. */
const ANY_CONTRACT = "1000000";
const LIMIT_MS = 20_000;

/** The gateway's API, with the owner's token where there is one. It is kept for this tab, until the tab is closed. */
export class GatewayApi {
  /** @type {Storage} */
  #storage;
  /** @type {typeof fetch} */
  #fetch;

  /**
   * @param {Storage} storage
   * @param {typeof fetch} fetch
   */
  constructor(storage, fetch) {
    this.#storage = storage;
    this.#fetch = fetch;
  }

  get hasToken() {
    return this.#storage.getItem(TOKEN_KEY) !== null;
  }

  /** @param {string | null} token */
  keepToken(token) {
    if (token === null) this.#storage.removeItem(TOKEN_KEY);
    else this.#storage.setItem(TOKEN_KEY, token);
  }

  /**
   * Opens a stream of events, after the one that was seen last.
   *
   * @param {string} path
   * @param {string | null} lastEventId
   * @param {AbortSignal} signal
   */
  open(path, lastEventId, signal) {
    const headers = this.#headers();
    if (lastEventId !== null) headers.set("last-event-id", lastEventId);
    return this.#fetch(path, { headers, signal, cache: "no-store" });
  }

  /** @param {string} id */
  look(id) {
    return this.#request("GET", `v1/sandboxes/${encodeURIComponent(id)}`);
  }

  /**
   * @param {string} operation
   * @param {string} id
   */
  operate(operation, id) {
    const path = `v1/sandboxes/${encodeURIComponent(id)}`;
    if (operation === "delete") return this.#request("DELETE", path);
    return this.#request("POST", `${path}/${encodeURIComponent(operation)}`);
  }

  /** @param {object} fields */
  create(fields) {
    return this.#request("POST", "v1/sandboxes", fields);
  }

  /**
   * The gateway's time.
   *
   * @throws when it does not answer in time
   */
  async time() {
    const response = await this.#fetch("page/now", { cache: "no-store", signal: AbortSignal.timeout(5000) });
    if (!response.ok) throw new Error(`the gateway answered ${response.status}`);
    return Number(/** @type {{ now: unknown }} */ (await response.json()).now);
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @returns {Promise<Answer>}
   */
  async #request(method, path, body) {
    const headers = this.#headers();
    if (body !== undefined) headers.set("content-type", "application/json");
    try {
      const response = await this.#fetch(path, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(LIMIT_MS),
      });
      const answer = await response.json();
      if (response.ok) return { ok: true, view: /** @type {SandboxView} */ (answer) };
      const { field = null, message } = answer.error;
      return { ok: false, status: response.status, field, message };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { ok: false, status: 0, field: null, message: `The gateway did not answer: ${why}` };
    }
  }

  #headers() {
    const headers = new Headers({ "slipway-reason-contract": ANY_CONTRACT });
    const token = this.#storage.getItem(TOKEN_KEY);
    if (token !== null) headers.set("authorization", `Bearer ${token}`);
    return headers;
  }
}
