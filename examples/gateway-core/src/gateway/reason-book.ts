import type { Driver } from "../driver/driver.js";
import { closestWord } from "../record/closest-word.js";
import { gatewayReasons } from "../record/reasons.js";
import type { Log } from "./log.js";

/** Words that are remembered as said: a driver that makes them up is said so often and no more. */
const MOST_SAID = 100;

/**
 * The reasons that this gateway's catalog and its drivers know. A word that is none of them is taken all the same, for a
 * driver may have others; it is said once, since nothing may ever match a mistyped one.
 */
export class ReasonBook {
  readonly #known: ReadonlySet<string>;
  readonly #said = new Set<string>();
  readonly #log: Log;

  constructor(drivers: readonly Driver[], log: Log) {
    const own = drivers.flatMap(({ reasons }) => reasons ?? []);
    this.#known = new Set([...Object.keys(gatewayReasons.reasons), ...own]);
    this.#log = log;
  }

  knows(reason: string): boolean {
    return this.#known.has(reason);
  }

  /** Of a policy: after which errors a sandbox is started again. */
  configured(reasons: readonly string[]): void {
    for (const reason of reasons)
      this.#noteUnknown("restart-on-unknown", reason, {
        why: "no catalog has this reason: nothing may end so",
      });
  }

  /** Of a driver's permanent failure. */
  failed(driver: string, reason: string): void {
    const why = "no catalog has this reason: clients do not know it. A driver names its own in `reasons`";
    this.#noteUnknown("reason-unknown", reason, { driver, why });
  }

  #noteUnknown(event: string, reason: string, fields: Readonly<Record<string, string>>): void {
    const key = `${event} ${reason}`;
    if (this.knows(reason) || this.#said.has(key) || this.#said.size >= MOST_SAID) return;
    this.#said.add(key);
    const meant = closestWord(reason, [...this.#known]);
    this.#log(event, { reason, ...fields, ...(meant === null ? undefined : { didYouMean: meant }) });
  }
}
