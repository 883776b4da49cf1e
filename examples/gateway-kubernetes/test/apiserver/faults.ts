import type { ServerResponse } from "node:http";
import type { Clock } from "slipway";
import type { Attributes } from "./access.js";
import { ApiError } from "./status.js";

/** What goes wrong with a request. */
export type Fault =
  /** It is taken up only after this time. */
  | { readonly kind: "delay"; readonly ms: number }
  /** It is refused: 429 and 503 may say when to come again. */
  | {
      readonly kind: "status";
      readonly code: number;
      readonly reason?: string;
      readonly retryAfterSeconds?: number;
    }
  /** The connection breaks: before anything was done, or after it was done and before the answer. */
  | { readonly kind: "cut"; readonly when: "before" | "after" }
  /** No answer ever comes, the connection stays open. */
  | { readonly kind: "hang" };

/** What a fault rule sees of a request. */
export interface RequestFacts extends Attributes {
  readonly user: string;
}

export function factsOf(attributes: Attributes, user: string): RequestFacts {
  const { verb, group, version, plural, namespace, name, subresource } = attributes;
  return { verb, group, version, plural, namespace, name, subresource, user };
}

export interface FaultRule {
  readonly fault: Fault;
  /** Which requests it meets; default all that are for a resource. */
  readonly when?: (request: RequestFacts) => boolean;
  /** How many requests it meets before it is used up; default no end. */
  readonly times?: number;
  /** From 0 to 1, the share of the matching requests; default 1. */
  readonly probability?: number;
}

/** The faults that are in force, in the order of their injection; every matching one strikes. */
export class Faults {
  readonly #rules = new Set<{ readonly rule: FaultRule; left: number }>();
  readonly #random: () => number;
  #waiting = 0;
  #hanging = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** In force until disposed or used up. */
  inject(rule: FaultRule): Disposable {
    const entry = { rule, left: rule.times ?? Number.POSITIVE_INFINITY };
    this.#rules.add(entry);
    return { [Symbol.dispose]: () => void this.#rules.delete(entry) };
  }

  clear(): void {
    this.#rules.clear();
  }

  /** The faults that strike this request; uses them up. */
  #take(request: RequestFacts): Fault[] {
    const taken: Fault[] = [];
    for (const entry of this.#rules) {
      const { rule } = entry;
      if (rule.when !== undefined && !rule.when(request)) continue;
      if (rule.probability !== undefined && this.#random() >= rule.probability) continue;
      taken.push(rule.fault);
      entry.left -= 1;
      if (entry.left <= 0) this.#rules.delete(entry);
    }
    return taken;
  }

  /** Requests that a delay holds back right now. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Requests that are not answered before the clock moves, or their client gives up. */
  get holding(): number {
    return this.#waiting + this.#hanging;
  }

  /** Lets faults strike a request; tells how it goes on. */
  async strike(
    request: RequestFacts,
    response: ServerResponse,
    clock: Clock,
  ): Promise<"answer" | "cut" | "gone"> {
    let after: "answer" | "cut" = "answer";
    for (const fault of this.#take(request)) {
      if (fault.kind === "delay") {
        this.#waiting += 1;
        await new Promise<void>((go) => {
          const alarm = clock.schedule(clock.now() + fault.ms, go, { unref: true });
          response.once("close", () => {
            alarm[Symbol.dispose]();
            go();
          });
        });
        this.#waiting -= 1;
      } else if (fault.kind === "status") throw refusal(fault.code, fault.reason, fault.retryAfterSeconds);
      else if (fault.kind === "hang") {
        this.#hanging += 1;
        response.once("close", () => (this.#hanging -= 1));
        return "gone";
      } else if (fault.when === "after") after = "cut";
      else {
        response.destroy();
        return "gone";
      }
    }
    return response.destroyed ? "gone" : after;
  }
}

const REASONS: Readonly<Record<number, string>> = {
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

function refusal(code: number, reason: string | undefined, retryAfterSeconds: number | undefined): ApiError {
  const told = reason ?? REASONS[code] ?? "";
  const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
  return new ApiError(code, told, `injected fault: ${code} ${told}`, details);
}
