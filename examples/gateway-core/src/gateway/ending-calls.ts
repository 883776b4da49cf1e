import type { Clock } from "slipway";
import type { Driver, SandboxRef, Start } from "../driver/driver.js";
import type { SandboxRecord } from "../record/record.js";
import { limitedCall, type CallLimits } from "./limited-call.js";

const STOP_LIMIT_MS = 30_000;

/** What a driver is asked to end for one worker, each within a limit; each answers with its failure, or `null`. */
export class EndingCalls {
  readonly #clock: Clock;
  readonly #closing: AbortSignal;

  /** @param closing - Aborts when the gateway shuts down. */
  constructor(clock: Clock, closing: AbortSignal) {
    this.#clock = clock;
    this.#closing = closing;
  }

  stop(driver: Driver, record: SandboxRecord): Promise<Error | null> {
    return limitedCall(this.#limits(), (signal) =>
      driver.stop(sandboxOf(record), { signal, upTo: startOf(record) }),
    );
  }

  /** @param until - When the claim to the cleanup ends. */
  cleanUp(driver: Driver, record: SandboxRecord, until: number): Promise<Error | null> {
    return limitedCall(this.#limits(until), (signal) =>
      driver.cleanUp(sandboxOf(record), { signal, upTo: startOf(record) }),
    );
  }

  remove(driver: Driver, record: SandboxRecord): Promise<Error | null> {
    return limitedCall(this.#limits(), (signal) => driver.remove(sandboxOf(record), { signal }));
  }

  #limits(until = this.#clock.now() + STOP_LIMIT_MS): CallLimits {
    return { clock: this.#clock, until, signal: this.#closing };
  }
}

function sandboxOf({ id, name }: SandboxRecord): SandboxRef {
  return { id, name };
}

/** The latest start that a record knows of: what is asked of a driver is meant for it and for those before. */
function startOf({ attemptNumber, run }: SandboxRecord): Start {
  return { attemptNumber, run };
}
