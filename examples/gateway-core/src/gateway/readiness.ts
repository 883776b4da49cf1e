import type { Clock } from "slipway";
import type { RecordStore } from "../store/record-store.js";
import { limited } from "./limited-call.js";

/** What has to be so before a gateway is of use: each with `ok`, or with what is against it. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

export interface ReadinessOptions {
  readonly clock: Clock;
  readonly store: Pick<RecordStore, "earliestDue">;
  readonly drivers: readonly string[];
  /** Whether a driver's backend answered when it was last listed; `null` before the first time. */
  readonly answered: (driver: string) => boolean | null;
  readonly isRecovered: () => boolean;
  readonly isClosing: () => boolean;
}

const STORE_LIMIT_MS = 2000;
/** So long an answer of the store counts: anybody may ask, and the store is not asked for each of them. */
const STORE_KEPT_MS = 1000;

/** Says only words of its own: whoever asks needs no token. */
export class ReadinessCheck {
  readonly #options: ReadinessOptions;
  #store: { readonly at: number; readonly found: Promise<string> } | null = null;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  async look(): Promise<Readiness> {
    const { drivers, answered, isRecovered, isClosing } = this.#options;
    const checks: Record<string, string> = {
      shutdown: isClosing() ? "shutting down" : "ok",
      recovery: isRecovered() ? "ok" : "under way",
      store: await this.#lookAtStore(),
    };
    for (const driver of drivers) checks[`driver ${driver}`] = wordFor(answered(driver));
    return { ready: Object.values(checks).every((word) => word === "ok"), checks };
  }

  #lookAtStore(): Promise<string> {
    const { clock, store } = this.#options;
    const at = clock.now();
    if (this.#store === null || at - this.#store.at >= STORE_KEPT_MS || at < this.#store.at) {
      const limits = { clock, until: at + STORE_LIMIT_MS, signal: new AbortController().signal };
      const found = limited(limits, () => store.earliestDue()).then(
        () => "ok",
        () => "does not answer",
      );
      this.#store = { at, found };
    }
    return this.#store.found;
  }
}

function wordFor(answered: boolean | null): string {
  if (answered === null) return "not asked yet";
  return answered ? "ok" : "does not answer";
}
