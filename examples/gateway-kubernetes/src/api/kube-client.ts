import type { TimeReading } from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import { exponentialBackoff } from "slipway/retry";
import { isObjectOf, isRemovalOf, nameIn } from "./answered-object.js";
import { ApiError, ApiUnreachableError, isOverload, isTransient, retryAfterOf } from "./api-error.js";
import { ClusterClock } from "./cluster-clock.js";
import { LimitedRequest } from "./limited-request.js";
import { Pace, type PaceOptions } from "./pace.js";
import { isRecord, nameOf, type Plain } from "./plain.js";
import { linesOf, textOf } from "./read-body.js";
import { pause } from "./pause.js";
import type { Transport, TransportReply } from "./transport.js";

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface CallOptions {
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly contentType?: string | undefined;
  readonly signal: AbortSignal;
}

export interface WatchOptions {
  readonly query: Query;
  readonly signal: AbortSignal;
  /** Longest silence before the connection counts as dead, asked anew after each event. */
  readonly idleLimitMs: () => number;
  /** The server has taken the watch: what happens from here on will be told. */
  readonly onOpen?: (() => void) | undefined;
}

export interface KubeClientOptions extends Omit<PaceOptions, "clock"> {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Longest time that one request may take to be answered in full. */
  readonly requestLimitMs?: number | undefined;
  /** Requests for one call, the first included, before its failure is the caller's. */
  readonly maxAttempts?: number | undefined;
}

const REQUEST_LIMIT_MS = 30_000;
const MAX_ATTEMPTS = 4;
/** Answered to whoever has credentials, without a look at the storage. */
const CHEAPEST = "/version";
const AGAIN = exponentialBackoff({ initialMs: 200, factor: 2, capMs: 5000, jitter: "full" });

/**
 * Plain JSON requests to one API server. What the server cannot take at present is sent again a few times, spaced by
 * one pace for all; every request of this driver may be: creates have names of their own, changes the version that
 * they were decided on.
 */
export class KubeClient {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #pace: Pace;
  readonly #random: (() => number) | undefined;
  readonly #limitMs: number;
  readonly #maxAttempts: number;
  readonly #time: ClusterClock;

  constructor(options: KubeClientOptions) {
    this.#transport = options.transport;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#pace = new Pace(options);
    this.#limitMs = options.requestLimitMs ?? REQUEST_LIMIT_MS;
    this.#maxAttempts = options.maxAttempts ?? MAX_ATTEMPTS;
    this.#time = new ClusterClock(options.clock, (signal) => this.#askTime(signal));
  }

  /** How far the cluster's clock is ahead of a clock of this process, by the answers that were dated. */
  skewFrom(clock: Clock): number {
    return this.#time.skewFrom(clock);
  }

  /**
   * What time the cluster has (see {@link ClusterClock.read}).
   *
   * @throws ApiUnreachableError when it does not answer, or does not date its answers.
   */
  clusterTime(signal: AbortSignal): Promise<TimeReading> {
    return this.#time.read(signal);
  }

  get(path: string, options: CallOptions): Promise<Plain> {
    return this.#call("GET", path, options);
  }

  /** @throws ApiUnreachableError when the answer is a success and not the object that was sent: nothing is known. */
  create(path: string, body: Plain, options: CallOptions): Promise<Plain> {
    return this.#call("POST", path, { ...options, body }, isObjectOf(nameOf(body)));
  }

  /**
   * A JSON merge patch. With `metadata.resourceVersion` in it, it is refused with 409 when the object has changed.
   *
   * @throws ApiUnreachableError when the answer is a success and no such object.
   */
  patch(path: string, body: Plain, options: CallOptions): Promise<Plain> {
    const merge = { ...options, body, contentType: "application/merge-patch+json" };
    return this.#call("PATCH", path, merge, isObjectOf(nameIn(path)));
  }

  /** @throws ApiUnreachableError when the answer is a success that says nothing of such an object. */
  delete(path: string, body: Plain, options: CallOptions): Promise<Plain> {
    return this.#call("DELETE", path, { ...options, body }, isRemovalOf(nameIn(path)));
  }

  /** The events of a watch, until the server or the signal ends it. Rejects when the stream breaks or was refused. */
  async *watch(path: string, { query, signal, idleLimitMs, onOpen }: WatchOptions): AsyncGenerator<Plain> {
    using call = new LimitedRequest(this.#clock, signal, this.#limitMs);
    const reply = await this.#paced(
      () => this.#send("GET", path, { query, signal: call.signal }, call),
      call.signal,
    );
    call.renew(idleLimitMs());
    onOpen?.();
    try {
      for await (const line of linesOf(reply.body)) {
        call.renew(idleLimitMs());
        const event: unknown = JSON.parse(line);
        if (!isRecord(event)) continue;
        yield event;
        // Taken in, it may have told what silence to expect.
        call.renew(idleLimitMs());
      }
    } catch (error) {
      throw call.explain(error, `GET ${path}`);
    }
  }

  /** @param isAnswer - Whether a success is one of this server to this request, and not of something in between. */
  async #call(
    method: string,
    path: string,
    options: CallOptions,
    isAnswer: (found: Plain) => boolean = () => true,
  ): Promise<Plain> {
    const { signal } = options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#paced(async () => {
          using call = new LimitedRequest(this.#clock, signal, this.#limitMs);
          const reply = await this.#send(method, path, options, call);
          const found = await readObject(reply, call, `${method} ${path}`);
          if (isAnswer(found)) return found;
          throw new ApiUnreachableError(`${method} ${path}: the answer is no word of this object`);
        }, signal);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (!isTransient(error) || attempt >= this.#maxAttempts) throw error;
        // What is everybody's trouble waits in the pace; what is this request's own waits here.
        if (!isOverload(error))
          await pause(this.#clock, AGAIN.delayMs(attempt, { random: this.#random }), signal);
      }
    }
  }

  async #paced<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#pace.enter(signal);
    try {
      const result = await work();
      this.#pace.succeeded();
      return result;
    } catch (error) {
      if (isOverload(error)) this.#pace.failed(error instanceof ApiError ? error.retryAfterMs : null);
      else if (error instanceof ApiError) this.#pace.succeeded();
      throw error;
    } finally {
      this.#pace.leave();
    }
  }

  async #send(
    method: string,
    path: string,
    options: CallOptions,
    call: LimitedRequest,
  ): Promise<TransportReply> {
    const { query, body, contentType = "application/json" } = options;
    const headers: Record<string, string> = { accept: "application/json" };
    const content = body === undefined ? undefined : JSON.stringify(body);
    if (content !== undefined) {
      headers["content-type"] = contentType;
      headers["content-length"] = String(Buffer.byteLength(content));
    }
    let reply: TransportReply;
    const sentAt = this.#clock.now();
    try {
      reply = await this.#transport({
        method,
        path: withQuery(path, query),
        headers,
        body: content,
        signal: call.signal,
      });
    } catch (error) {
      throw call.explain(error, `${method} ${path}`);
    }
    if (isServersOwn(reply.status)) this.#time.noteDate(reply.header("date"), sentAt);
    if (reply.status < 400) return reply;
    const found = parsed(await textOf(reply.body).catch(() => ""));
    const dated = Date.parse(reply.header("date") ?? "");
    const now = Number.isNaN(dated) ? this.#clock.now() : dated;
    const wait = retryAfterOf(reply.header("retry-after"), found, now);
    throw new ApiError(`${method} ${path}`, reply.status, found, wait);
  }

  async #askTime(signal: AbortSignal): Promise<void> {
    // A refusal is dated as well.
    await this.get(CHEAPEST, { signal }).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
    });
  }
}

/** Not of a balancer in front of it, whose clock is another one: those answer for a server that cannot. */
function isServersOwn(status: number): boolean {
  return status < 500 && status !== 408 && status !== 429;
}

async function readObject(reply: TransportReply, call: LimitedRequest, request: string): Promise<Plain> {
  let text: string;
  try {
    text = await textOf(reply.body);
  } catch (error) {
    throw call.explain(error, request);
  }
  const found = parsed(text);
  if (isRecord(found)) return found;
  throw new ApiUnreachableError(`${request}: the answer is no JSON object`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function withQuery(path: string, query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined || value === "" ? [] : [[key, String(value)]],
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs).toString()}`;
}
