// @ts-check
/** @import { SandboxView } from "../http/view.js" */
/** @import { ServerEvent } from "./event-text.js" */

/**
 * @callback OnChange
 * @param {string} id
 * @param {SandboxView | undefined} before
 * @param {SandboxView | undefined} after
 * @returns {void}
 */

/** All sandboxes as this page knows them, from two streams and the answers to requests, in whatever order they come. */
export class Sandboxes {
  /** @type {Map<string, SandboxView>} */
  #views = new Map();
  /** Ids are never given twice, so late news of one that is gone are void. @type {Set<string>} */
  #gone = new Set();
  /** Known before the snapshot that is under way, and not in it so far. @type {Set<string> | null} */
  #unconfirmed = null;
  /** @type {OnChange} */
  #onChange;

  /** Whether a whole snapshot was seen. */
  complete = false;

  /** @param {OnChange} onChange */
  constructor(onChange) {
    this.#onChange = onChange;
  }

  get size() {
    return this.#views.size;
  }

  /** @param {string} id */
  get(id) {
    return this.#views.get(id);
  }

  values() {
    return this.#views.values();
  }

  /**
   * Takes in an event of a stream. One of a kind that this page does not know is passed over.
   *
   * @param {ServerEvent} event
   */
  apply({ event, data }) {
    if (event === "reset") this.#unconfirmed = new Set(this.#views.keys());
    else if (event === "sandbox") this.put(/** @type {SandboxView} */ (JSON.parse(data)));
    else if (event === "deleted") this.remove(/** @type {{ id: string }} */ (JSON.parse(data)).id);
    else if (event === "snapshot") this.#finishSnapshot();
  }

  /**
   * Takes in a view unless a newer one is here. Of one version the later look is better: gates change without a write.
   *
   * @param {SandboxView} view
   */
  put(view) {
    this.#unconfirmed?.delete(view.id);
    const before = this.#views.get(view.id);
    if (this.#gone.has(view.id) || (before !== undefined && before.version > view.version)) return;
    this.#views.set(view.id, view);
    this.#onChange(view.id, before, view);
  }

  /** @param {string} id */
  remove(id) {
    const before = this.#views.get(id);
    this.#gone.add(id);
    if (before === undefined) return;
    this.#views.delete(id);
    this.#onChange(id, before, undefined);
  }

  #finishSnapshot() {
    const missing = this.#unconfirmed ?? [];
    this.#unconfirmed = null;
    for (const id of missing) this.remove(id);
    this.complete = true;
  }
}
