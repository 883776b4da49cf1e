import { headOf } from "../cut-text.js";
import type { SupervisorReport } from "../decide/supervisor-report.js";
import { discreetReport, environmentOf } from "../gateway/secrets.js";

/** Longest diagnostic and longest code of a cause that the gateway takes. */
const MAX_MESSAGE_LENGTH = 2000;
const MAX_CODE_LENGTH = 128;
/** Values of earlier configurations that are remembered, the latest. */
const MOST_EARLIER = 2000;

/**
 * Reports as they are said: without a value of any configuration that this supervisor had, and as long as the gateway
 * takes them. The gateway knows the current values alone, and a main process runs with those that it was started with.
 */
export class SpokenReports {
  #current: ReadonlySet<string> = new Set();
  /** What the main process was started with: it has no others for as long as it runs. */
  #started: ReadonlySet<string> = new Set();
  readonly #earlier = new Set<string>();
  #hidden: readonly string[] = [];

  /** A configuration was received, whatever becomes of it. */
  heard(policy: unknown): void {
    for (const value of this.#current) {
      this.#earlier.delete(value);
      this.#earlier.add(value);
    }
    for (const oldest of this.#earlier) {
      if (this.#earlier.size <= MOST_EARLIER) break;
      this.#earlier.delete(oldest);
    }
    this.#current = new Set(environmentOf(policy));
    this.#hidden = [...new Set([...this.#current, ...this.#started, ...this.#earlier])];
  }

  /** The main process is started with the configuration that was received last. */
  started(): void {
    this.#started = this.#current;
  }

  /** Cut only then: half a value is not found any more. */
  of(report: SupervisorReport): SupervisorReport {
    const discreet = discreetReport(report, this.#hidden);
    if (!("message" in discreet)) return discreet;
    const message = headOf(discreet.message, MAX_MESSAGE_LENGTH);
    if (!("cause" in discreet) || discreet.cause === undefined) return { ...discreet, message };
    const { cause } = discreet;
    return {
      ...discreet,
      message,
      cause: {
        reason: headOf(cause.reason, MAX_CODE_LENGTH),
        message: headOf(cause.message, MAX_MESSAGE_LENGTH),
      },
    };
  }
}
