// @ts-check
import { Announcer } from "./announcer.js";
import { connectionText } from "./connection-text.js";
import { DetailPane } from "./detail-pane.js";
import { CreateDialog, DeleteDialog } from "./dialogs.js";
import { byId, setText } from "./dom.js";
import { EventStream } from "./event-stream.js";
import { GatewayApi } from "./gateway-api.js";
import { ListPane } from "./list-pane.js";
import { Sandboxes } from "./sandboxes.js";
import { ServerClock } from "./server-clock.js";
import { SignIn } from "./sign-in.js";

/** @import { SandboxView } from "../http/view.js" */
/** @import { StreamState } from "./event-stream.js" */

const TICK_MS = 1000;
/** So often the page looks whether the gateway is there, what time it has, and what may be done. */
const LOOK_MS = 10_000;
const NOTHING_SELECTED = "Choose a sandbox to see all of it.";

/** The whole page: two streams in, one frame of drawing for all that came since the last. */
export class LivePage {
  #api = new GatewayApi(sessionStorage, fetch.bind(window));
  #clock = new ServerClock(() => performance.now(), Date.now());
  #sandboxes = new Sandboxes((id, before, after) => this.#onChange(id, before, after));
  #announcer = new Announcer(byId("announcer", HTMLElement));
  #list = new ListPane(this.#sandboxes, {
    list: byId("list", HTMLElement),
    filter: byId("filter", HTMLInputElement),
    count: byId("count", HTMLElement),
    empty: byId("list-empty", HTMLElement),
    heading: byId("list-heading", HTMLElement),
  });
  #detail = new DetailPane((operation) => void this.#operate(operation));
  #deleteDialog = new DeleteDialog();
  #createDialog = new CreateDialog(
    (body) => this.#api.create(body),
    ({ view }, awaited) => {
      this.#sandboxes.put(view);
      // Who closed the dialog meanwhile is elsewhere by now.
      if (awaited) this.#choose(`#${encodeURIComponent(view.id)}`);
    },
  );
  #signIn = new SignIn(
    (token) => this.#enter(token),
    () => this.#leave(),
  );
  #connection = byId("connection", HTMLElement);
  #connected = false;
  /** @type {EventStream | null} */
  #all = null;
  /** @type {EventStream | null} */
  #one = null;
  /** @type {string | null} */
  #selected = null;
  /** Names of what was selected and is gone. @type {Map<string, string>} */
  #goneNames = new Map();
  /** @type {Set<string>} */
  #changed = new Set();
  #drawing = false;
  #heardAt = 0;

  start() {
    addEventListener("hashchange", () => this.#select());
    byId("list", HTMLElement).addEventListener("click", (event) => this.#onRowClick(event));
    byId("detail-back", HTMLElement).addEventListener("click", (event) => {
      event.preventDefault();
      this.#list.focusSelected();
    });
    byId("skip", HTMLElement).addEventListener("click", (event) => {
      event.preventDefault();
      this.#detail.focus();
    });
    document.addEventListener("visibilitychange", () => this.#onVisibility());
    addEventListener("online", () => this.#all?.retry());
    setInterval(() => this.#tick(), TICK_MS);
    setInterval(() => void this.#look(), LOOK_MS);
    this.#select();
    this.#follow();
    void this.#look();
  }

  #follow() {
    this.#all?.close();
    this.#all = new EventStream({
      open: (last, signal) => this.#api.open("v1/events", last, signal),
      onEvent: (event) => {
        this.#heardAt = this.#clock.now();
        this.#sandboxes.apply(event);
        if (event.event === "snapshot") this.#drawSoon();
      },
      onState: (state, detail) => this.#onState(state, detail),
      wait,
    });
    if (document.hidden) this.#all.rest();
    void this.#all.run();
    this.#followSelected();
  }

  /** The stream of one sandbox has what another gateway wrote as well. */
  #followSelected() {
    this.#one?.close();
    this.#one = null;
    const id = this.#selected;
    if (id === null) return;
    this.#one = new EventStream({
      open: (last, signal) => this.#api.open(`v1/sandboxes/${encodeURIComponent(id)}/watch`, last, signal),
      onEvent: (event) => this.#sandboxes.apply(event),
      onState: (state) => {
        if (state === "gone") this.#sandboxes.remove(id);
      },
      wait,
    });
    if (document.hidden) this.#one.rest();
    void this.#one.run();
  }

  /**
   * @param {StreamState} state
   * @param {string} detail
   */
  #onState(state, detail) {
    if (state === "unauthorized") {
      this.#one?.close();
      // Nothing behind a modal dialog can have the focus.
      this.#deleteDialog.withdraw();
      this.#createDialog.withdraw();
      this.#signIn.ask(this.#api.hasToken ? "The gateway does not take this token." : "");
      this.#api.keepToken(null);
    }
    if (state === "live") {
      this.#heardAt = this.#clock.now();
      this.#signIn.done(this.#api.hasToken);
      if (!this.#connected) {
        this.#one?.retry();
        void this.#look();
      }
    }
    this.#connected = state === "live";
    document.body.dataset["connection"] = state;
    setText(this.#connection, connectionText(state, detail, this.#heardAt));
    this.#drawSoon();
  }

  /** Whether the gateway is there at all: a connection that died without a word looks like a quiet one. */
  async #look() {
    if (document.hidden) return;
    const askedAt = performance.now();
    try {
      this.#clock.measure(await this.#api.time(), askedAt, performance.now());
    } catch {
      if (this.#connected) this.#all?.retry();
      return;
    }
    // Gates follow what the backend shows, which no event tells of.
    if (this.#selected === null || !this.#connected) return;
    const answer = await this.#api.look(this.#selected);
    if (answer.ok) this.#sandboxes.put(answer.view);
  }

  #onVisibility() {
    for (const stream of [this.#all, this.#one]) {
      if (document.hidden) stream?.rest();
      else stream?.wake();
    }
    if (!document.hidden) void this.#look();
  }

  /**
   * @param {string} id
   * @param {SandboxView | undefined} before
   * @param {SandboxView | undefined} after
   */
  #onChange(id, before, after) {
    if (this.#sandboxes.complete) this.#announcer.note(id, before, after);
    if (before !== undefined && after === undefined && id === this.#selected)
      this.#goneNames.set(id, before.name);
    this.#changed.add(id);
    this.#drawSoon();
  }

  #drawSoon() {
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#drawing = false;
    const changed = this.#changed;
    this.#changed = new Set();
    this.#list.update(changed, this.#clock.now());
    this.#drawDetail();
  }

  #drawDetail() {
    const view = this.#selected === null ? undefined : this.#sandboxes.get(this.#selected);
    document.title = view === undefined ? "Slipway gateway" : `${view.name}: ${view.phase} – Slipway gateway`;
    if (view !== undefined) return this.#detail.update(view, this.#clock.now(), this.#connected);
    // A question about what is gone gives the focus back first, to where it was asked.
    this.#deleteDialog.withdraw();
    const hadFocus = this.#detail.hasFocus;
    this.#detail.clear(this.#absence());
    if (hadFocus) this.#detail.focus();
  }

  #absence() {
    if (this.#selected === null) return NOTHING_SELECTED;
    const name = this.#goneNames.get(this.#selected);
    if (name !== undefined) return `${name} is gone.`;
    return this.#sandboxes.complete ? "There is no such sandbox." : "Loading…";
  }

  #tick() {
    if (document.hidden) return;
    this.#list.tick(this.#clock.now());
    this.#drawDetail();
  }

  #select() {
    const id = idOf(location.hash);
    if (id === this.#selected) return;
    this.#selected = id;
    this.#list.select(id);
    this.#drawDetail();
    if (this.#all !== null) this.#followSelected();
  }

  /** @param {MouseEvent} event */
  #onRowClick(event) {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.#choose(link.hash);
  }

  /**
   * Shows a sandbox and goes to it, at once: a change of the address is told only later.
   *
   * @param {string} hash
   */
  #choose(hash) {
    if (location.hash !== hash) history.pushState(null, "", hash);
    this.#select();
    this.#draw();
    this.#detail.focus();
  }

  /** @param {string} operation */
  async #operate(operation) {
    const id = this.#selected;
    const view = id === null ? undefined : this.#sandboxes.get(id);
    if (id === null || view === undefined) return;
    if (operation === "delete" && !(await this.#deleteDialog.ask(view.name))) return;
    this.#detail.say(`Asking for ${operation}…`);
    const answer = await this.#api.operate(operation, id);
    if (answer.ok) this.#sandboxes.put(answer.view);
    if (this.#selected !== id) return;
    this.#detail.say(answer.ok ? `The gateway took the ${operation}.` : `Not done. ${answer.message}`);
  }

  /** @param {string} token */
  #enter(token) {
    this.#api.keepToken(token);
    this.#follow();
  }

  #leave() {
    this.#api.keepToken(null);
    // What was shown is the owner's as well.
    location.reload();
  }
}

/** @param {string} hash */
function idOf(hash) {
  try {
    const id = decodeURIComponent(hash.slice(1));
    return id === "" ? null : id;
  } catch {
    return null;
  }
}

/**
 * @param {number} ms
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function wait(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
