import { middleOf, offsetOf, type TimeOffset } from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import type Docker from "dockerode";
import { SharedWork } from "./image/shared-work.js";

/** An answer that is no older tells the time well enough. */
const FRESH_MS = 30_000;
/** An engine that is asked for the time and says nothing is not waited for: it may still tell of its containers. */
const LIMIT_MS = 5000;

/** The call that tells an engine's time, as the client has it and its types do not. */
interface Telling {
  info(options: { readonly abortSignal: AbortSignal }): Promise<unknown>;
}

/**
 * How far the engine's clock is ahead of the gateway's, in milliseconds. It is asked for where an answer is wanted and
 * the last one is old. While nothing else is known the two are taken for the same, and what was found once holds until
 * an answer contradicts it: an end is not dated anew at each look.
 */
export class EngineTime {
  readonly #engine: Telling;
  readonly #clock: Clock;
  readonly #asking = new SharedWork<void, never>();
  #skewMs = 0;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(docker: Docker, clock: Clock) {
    this.#engine = docker;
    this.#clock = clock;
  }

  /** Rejects with the signal's reason, and for nothing else. */
  async skewMs(signal: AbortSignal): Promise<number> {
    const age = this.#clock.now() - this.#askedAt;
    if (age < 0 || age > FRESH_MS) {
      await this.#asking.join("time", { signal, tell: () => undefined }, (given) => this.#ask(given));
    }
    return this.#skewMs;
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const late = new AbortController();
    const askedAt = this.#clock.now();
    const alarm = this.#clock.schedule(askedAt + LIMIT_MS, () => late.abort());
    const abortSignal = AbortSignal.any([signal, late.signal]);
    const answer = await this.#engine.info({ abortSignal }).catch(() => null);
    alarm[Symbol.dispose]();
    signal.throwIfAborted();
    this.#askedAt = askedAt;
    const offset = offsetIn(answer, askedAt, this.#clock.now());
    if (offset === null || (offset.least <= this.#skewMs && this.#skewMs <= offset.most)) return;
    this.#skewMs = middleOf(offset);
  }
}

/** `null`: the answer does not say what time it is there. */
function offsetIn(answer: unknown, before: number, after: number): TimeOffset | null {
  const said = (answer as { SystemTime?: unknown } | null)?.SystemTime;
  const instant = typeof said === "string" ? Date.parse(said) : Number.NaN;
  return Number.isNaN(instant) ? null : offsetOf({ earliest: instant, latest: instant }, before, after);
}
