// @ts-check
import { announcementOf, joinAnnouncements } from "./announcements.js";

/** @import { SandboxView } from "../http/view.js" */

/** Changes within so long are told together. */
const GATHER_MS = 700;

/** Tells listeners of new phases, politely, through one live region. Bytes and seconds are not told. */
export class Announcer {
  /** @type {HTMLElement} */
  #region;
  /** By sandbox, what was last told of it. @type {Map<string, SandboxView | undefined>} */
  #before = new Map();
  /** @type {Map<string, SandboxView | undefined>} */
  #after = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {HTMLElement} region */
  constructor(region) {
    this.#region = region;
  }

  /**
   * @param {string} id
   * @param {SandboxView | undefined} before
   * @param {SandboxView | undefined} after
   */
  note(id, before, after) {
    if (before?.phase === after?.phase) return;
    if (!this.#before.has(id)) this.#before.set(id, before);
    this.#after.set(id, after);
    this.#timer ??= setTimeout(() => this.#tell(), GATHER_MS);
  }

  #tell() {
    const changes = [...this.#after].flatMap(
      ([id, after]) => announcementOf(this.#before.get(id), after) ?? [],
    );
    this.#before.clear();
    this.#after.clear();
    this.#timer = undefined;
    if (changes.length > 0) this.#region.textContent = joinAnnouncements(changes);
  }
}
