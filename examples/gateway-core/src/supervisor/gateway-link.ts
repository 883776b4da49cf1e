import type { Clock } from "slipway";
import type { ActivationEntry } from "slipway/retry";
import { z } from "zod";
import type { SupervisorReport } from "../decide/supervisor-report.js";
import { FAILURES_HEADER, writeFailures } from "../metrics/failure-header.js";
import type { FailureTally } from "./failure-tally.js";
import { within } from "./limit.js";
import { SpokenReports } from "./spoken-report.js";

export interface LinkOptions {
  readonly url: string;
  readonly sandbox: string;
  readonly token: string;
  readonly run: number;
  readonly clock: Clock;
  /**
   * Told with every authenticated answer what was left of the gateway's deadline, `null` for none, and when: an instant
   * of this clock that is never later than the gateway's look, however long the answer took. Which version of the
   * deadline was looked at tells answers apart that overtook one another.
   */
  readonly onAnswer?:
    | ((remainingMs: number | null, asOf: number, version: number | null) => void)
    | undefined;
  /** Failed attempts, of which each report tells those that no report told before. */
  readonly failures?: FailureTally | undefined;
}

const configurationSchema = z.object({ generation: z.int(), digest: z.string(), policy: z.unknown() });
const replySchema = z.object({ activate: z.boolean() });
const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const entrySchema = z.object({
  state: z.string(),
  version: z.int(),
  claim: z.string().nullable(),
  at: z.int(),
});
const activationSchema = z.object({ entry: entrySchema.nullable() });
const swapSchema = z.object({ swapped: z.boolean() });

interface Question {
  readonly body?: unknown;
  readonly limitMs?: number;
  readonly more?: Readonly<Record<string, string>>;
}

export type ReceivedConfiguration = z.infer<typeof configurationSchema>;

/** The gateway wants nothing more from this supervisor: its attempt or run is over. */
export class DismissedError extends Error {
  override readonly name = "DismissedError";
  readonly code: string;

  constructor(message: string, code = "dismissed") {
    super(message);
    this.code = code;
  }
}

/** Any other answer that is no success. `status` and `headers` are what the default classification reads. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
  readonly status: number;
  readonly headers: Headers;

  constructor(message: string, { status, headers }: Response) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
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

/** What a gateway takes to answer, beyond what it was asked to wait. */
const ANSWER_LIMIT_MS = 10_000;

/** Milliseconds until the deadline in force, with every authenticated answer. */
const REMAINING_HEADER = "x-slipway-remaining-ms";
/** Milliseconds for which the gateway had the question when that was so. */
const HELD_HEADER = "x-slipway-held-ms";
/** Which version of the deadline that is of. */
const VERSION_HEADER = "x-slipway-deadline-version";

/**
 * The supervisor's line to its gateway: one bounded request at a time for whoever calls. What becomes of a failure is
 * the caller's to decide.
 */
export class GatewayLink {
  readonly #options: LinkOptions;
  readonly #spoken = new SpokenReports();

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** The configuration if there is one newer than `after`, or comes within `waitMs`; `null` otherwise. */
  async configurationAfter(
    after: number,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<ReceivedConfiguration | null> {
    const path = `configuration?after=${after}&waitMs=${waitMs}`;
    const limitMs = waitMs + ANSWER_LIMIT_MS;
    const received = await this.#ask(path, configurationSchema.nullable(), signal, { limitMs });
    if (received !== null) this.#spoken.heard(received.policy);
    return received;
  }

  /** The main process is started with the configuration that was received last. */
  mainStarted(): void {
    this.#spoken.started();
  }

  /** Sends a report; `not-current` means that the configuration is another one by now. */
  async report(
    report: SupervisorReport,
    signal: AbortSignal,
  ): Promise<{ readonly activate: boolean } | "not-current"> {
    const { failures } = this.#options;
    const counts = failures?.take() ?? {};
    try {
      const said = writeFailures(counts);
      const more = said === "" ? {} : { [FAILURES_HEADER]: said };
      return await this.#request("report", replySchema, signal, { body: this.#spoken.of(report), more });
    } catch (error) {
      failures?.putBack(counts);
      throw error;
    }
  }

  async readActivation(signal: AbortSignal): Promise<ActivationEntry | null> {
    const { entry } = await this.#ask("activation", activationSchema, signal);
    // A state of a newer gateway is kept: the rules read it as uncertain.
    return entry as ActivationEntry | null;
  }

  async swapActivation(
    expectedVersion: number | null,
    next: ActivationEntry | null,
    signal: AbortSignal,
  ): Promise<boolean> {
    const body = { expectedVersion, next };
    return (await this.#ask("activation", swapSchema, signal, { body })).swapped;
  }

  /** As a request to which `not-current` is no answer. */
  async #ask<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    signal: AbortSignal,
    question: Question = {},
  ): Promise<z.infer<Schema>> {
    const answer = await this.#request(path, schema, signal, question);
    return answer === "not-current" ? schema.parse(answer) : answer;
  }

  /** The body of a success, or `not-current`. @throws DismissedError, AnswerError, ZodError, and what `fetch` throws */
  async #request<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    signal: AbortSignal,
    { body, limitMs = ANSWER_LIMIT_MS, more = {} }: Question,
  ): Promise<z.infer<Schema> | "not-current"> {
    const { url, sandbox, token, run, clock } = this.#options;
    const headers: Record<string, string> = {
      ...more,
      authorization: `Bearer ${token}`,
      "x-slipway-run": String(run),
    };
    const init: RequestInit = { headers, redirect: "error" };
    if (body !== undefined) {
      headers["content-type"] = "application/json";
      init.method = "POST";
      init.body = JSON.stringify(body);
    }
    const target = `${url}/v1/supervisor/${encodeURIComponent(sandbox)}/${path}`;
    const sentAt = clock.now();
    const work = async (limited: AbortSignal): Promise<z.infer<Schema> | "not-current"> =>
      this.#answer(await fetch(target, { ...init, signal: limited }), schema, sentAt);
    return within(clock, limitMs, work, signal);
  }

  async #answer<Schema extends z.ZodType>(
    response: Response,
    schema: Schema,
    sentAt: number,
  ): Promise<z.infer<Schema> | "not-current"> {
    if (response.ok) {
      // Another program on the gateway's port says nothing of its deadline, also not that there is none any more.
      const answer = schema.parse(response.status === 204 ? null : await response.json());
      const asOf = sentAt + (countIn(response, HELD_HEADER) ?? 0);
      const version = countIn(response, VERSION_HEADER);
      this.#options.onAnswer?.(countIn(response, REMAINING_HEADER), asOf, version);
      return answer;
    }
    const refusal = errorSchema.safeParse(await response.json().catch(() => null)).data?.error;
    if (refusal?.code === "not-current") return "not-current";
    if (refusal !== undefined && DISMISSALS.has(refusal.code))
      throw new DismissedError(refusal.message, refusal.code);
    throw new AnswerError(refusal?.message ?? `the gateway answered ${response.status}`, response);
  }
}

function countIn(response: Response, header: string): number | null {
  const text = response.headers.get(header);
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
