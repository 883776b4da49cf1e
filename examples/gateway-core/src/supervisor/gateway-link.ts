import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { SupervisorReport } from "../decide/supervisor-report.js";

export interface LinkOptions {
  readonly url: string;
  readonly sandbox: string;
  readonly token: string;
  readonly run: number;
}

const configurationSchema = z.object({ generation: z.int(), digest: z.string(), policy: z.unknown() });
const replySchema = z.object({ activate: z.boolean() });
const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export type ReceivedConfiguration = z.infer<typeof configurationSchema>;

/** The gateway wants nothing more from this supervisor: its attempt or run is over. */
export class DismissedError extends Error {
  override readonly name = "DismissedError";
}

/** What a gateway says to a supervisor that it is done with. Anything else may be another program, or a mistake. */
const DISMISSALS = new Set([
  "unauthorized",
  "stale-run",
  "stale-attempt",
  "expired",
  "settled",
  "already-activated",
  "not-activated",
]);

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 2000;
const WAIT_MS = 20_000;
/** Longer than the gateway lets a request wait. */
const REQUEST_LIMIT_MS = WAIT_MS + 10_000;

/**
 * The supervisor's line to its gateway. A gateway that is away, restarting or failing is waited for: how long this may
 * take is the gateway's own deadline to decide, which goes on meanwhile. A clear refusal ends it.
 */
export class GatewayLink {
  readonly #options: LinkOptions;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** The configuration, as soon as there is one newer than `after`. */
  async configurationAfter(after: number): Promise<ReceivedConfiguration> {
    for (;;) {
      const response = await this.#request(`configuration?after=${after}&waitMs=${WAIT_MS}`, {
        method: "GET",
      });
      if (response.status !== 204) return configurationSchema.parse(await response.json());
    }
  }

  /** Sends a report; `not-current` means that the configuration is another one by now. */
  async report(report: SupervisorReport): Promise<{ readonly activate: boolean } | "not-current"> {
    const response = await this.#request("report", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(report),
    });
    return response.ok ? replySchema.parse(await response.json()) : "not-current";
  }

  /** A success, or the refusal `not-current`; anything else is waited out or thrown. */
  async #request(
    path: string,
    init: { method: string; body?: string; headers?: Record<string, string> },
  ): Promise<Response> {
    const { url, sandbox, token, run } = this.#options;
    const headers = { ...init.headers, authorization: `Bearer ${token}`, "x-slipway-run": String(run) };
    for (let failures = 0; ; failures += 1) {
      try {
        const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
        const target = `${url}/v1/supervisor/${sandbox}/${path}`;
        const response = await fetch(target, { ...init, headers, signal });
        if (response.ok) return response;
        const refusal = errorSchema.safeParse(await response.json().catch(() => null)).data?.error;
        if (refusal?.code === "not-current") return response;
        if (refusal !== undefined && DISMISSALS.has(refusal.code)) throw new DismissedError(refusal.message);
      } catch (error) {
        if (error instanceof DismissedError) throw error;
      }
      await delay(Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures, 10), LONGEST_RETRY_MS));
    }
  }
}
