import type { BootstrapRetrier, RetryStatus } from "slipway/retry";
import type { GatewayLink } from "./gateway-link.js";

/**
 * Says where the bootstrap stands: one sentence for each state in the log, and its condition to the gateway as soon as
 * that can be reached. One report at a time, always the latest; what fails is said again with the next state.
 */
export class StateReporter {
  readonly #link: GatewayLink;
  readonly #retrier: BootstrapRetrier;
  readonly #log: (line: string) => void;
  readonly #cancel = new AbortController();
  #step = "";
  #logged = "";
  #wanted = "";
  #sent = "";
  #sending: Promise<void> | null = null;
  #reachable = false;

  constructor(link: GatewayLink, retrier: BootstrapRetrier, log: (line: string) => void) {
    this.#link = link;
    this.#retrier = retrier;
    this.#log = log;
    retrier.on("waiting", () => this.#changed());
    retrier.on("settled", () => this.#changed());
  }

  /** The step that the states from now on are of: each of its attempts may say so. */
  begin(step: string): void {
    if (step === this.#step) return;
    const isNext = this.#step !== "";
    this.#step = step;
    // What was said of the step before holds no longer.
    if (isNext) this.#changed();
  }

  /** The gateway answered: what it does not know yet can be said. */
  reached(): void {
    this.#reachable = true;
    this.#send();
  }

  /** Nothing more is sent on its own; a report under way is given up. */
  close(): void {
    this.#reachable = false;
    this.#cancel.abort(new Error("the bootstrap is over"));
  }

  #changed(): void {
    const status = this.#retrier.status();
    const line = `[${this.#step}] ${status.sentence}`;
    if (line !== this.#logged) this.#log(line);
    this.#logged = line;
    // The gateway hears of a success by what the main process makes of it, and sees of one that was told to end that it
    // is gone: what takes its place may start the run yet.
    if (status.outcome === "succeeded" || status.outcome === "cancelled") return;
    this.#wanted = keyOf(this.#step, status);
    if (status.lastError?.kind === "network" || status.lastError?.kind === "name") this.#reachable = false;
    this.#send();
  }

  #send(): void {
    if (!this.#reachable || this.#sending !== null || this.#wanted === this.#sent) return;
    if (this.#cancel.signal.aborted) return;
    const key = this.#wanted;
    this.#sending = this.#report().then(
      () => {
        this.#sent = key;
        this.#sending = null;
        this.#send();
      },
      () => {
        this.#sending = null;
      },
    );
  }

  async #report(): Promise<void> {
    const { reason, message, cause } = this.#retrier.toCondition();
    const text = `${this.#step}: ${message}`;
    const report = { kind: "bootstrap", succeeded: false, reason, message: text, cause } as const;
    await this.#link.report(report, this.#cancel.signal);
  }
}

/** Attempts that fail alike are one state for the gateway, or every one of them would be a write. */
function keyOf(step: string, { outcome, lastError }: RetryStatus): string {
  return [step, outcome ?? "under way", lastError?.code ?? "", lastError?.message ?? ""].join("\n");
}
