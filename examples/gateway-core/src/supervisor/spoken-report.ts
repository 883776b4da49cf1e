import { headOf } from "../cut-text.js";
import type { SupervisorReport } from "../decide/supervisor-report.js";
import { discreetReport, environmentOf } from "../gateway/secrets.js";

/** Longest diagnostic and longest code of a cause that the gateway takes. */
const MAX_MESSAGE_LENGTH = 2000;
const MAX_CODE_LENGTH = 128;
/** Values that are remembered, the latest: a workload that outlives so many changes has few of the first ones left. */
const MOST_VALUES = 2000;

/**
 * Reports as they are said: without a value of any configuration that this supervisor ever had, and as long as the
 * gateway takes them. The gateway knows the current values alone, and a main process may run with those of before.
 */
export class SpokenReports {
  readonly #values = new Set<string>();

  /** A configuration was received, whatever becomes of it. */
  heard(policy: unknown): void {
    for (const value of environmentOf(policy)) {
      this.#values.delete(value);
      this.#values.add(value);
    }
    for (const oldest of this.#values) {
      if (this.#values.size <= MOST_VALUES) break;
      this.#values.delete(oldest);
    }
  }

  /** Cut only then: half a value is not found any more. */
  of(report: SupervisorReport): SupervisorReport {
    const discreet = discreetReport(report, [...this.#values]);
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
