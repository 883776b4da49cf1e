import { middleOf, type TimeOffset, type TimeReading } from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import { exponentialBackoff } from "slipway/retry";
import { ApiError, ApiUnreachableError, isOverload, isTransient, retryAfterOf } from "./api-error.js";
import { ClusterTime, untilSecond } from "./cluster-time.js";
import { onAbort } from "./on-abort.js";
import { Pace, type PaceOptions } from "./pace.js";
import { isRecord, nameOf, textAt, uidOf, type Plain } from "./plain.js";
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
/** A server's date has whole seconds and is old by as much as the answer took: below this there is no skew to speak of. */
const LEAST_SKEW_MS = 5000;
/** Readings of two clocks count as one only with so little time from the first to the last; else they are made again. */
const TOGETHER_MS = 50;
const READINGS = 5;
/** An answer that is no older tells the time well enough. */
const TIME_FRESH_MS = 15_000;
/** What is left open of the cluster's time when the first questions for it end, and how many of them there are at most. */
const TIME_SPAN_MS = 100;
const MOST_QUESTIONS = 6;
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
  /** Questions that were asked for the time alone, at the start. */
  #questions = 0;
  readonly #time = new ClusterTime();
  /** What was concluded last, for when nothing can be. */
  readonly #skews = new WeakMap<Clock, number>();

  constructor(options: KubeClientOptions) {
    this.#transport = options.transport;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#pace = new Pace(options);
    this.#limitMs = options.requestLimitMs ?? REQUEST_LIMIT_MS;
    this.#maxAttempts = options.maxAttempts ?? MAX_ATTEMPTS;
  }

  /** How far the cluster's clock is ahead of a clock of this process, by the answers that were dated. */
  skewFrom(clock: Clock): number {
    const { offset } = this.#time;
    const ahead = offset === null ? null : this.#aheadOf(clock);
    if (offset === null || ahead === null) return this.#skews.get(clock) ?? 0;
    const found = ahead + middleOf(offset);
    const skew = Math.abs(found) < LEAST_SKEW_MS ? 0 : found;
    this.#skews.set(clock, skew);
    return skew;
  }

  /**
   * How far this client's clock is ahead of another one of this process; `null` when the two could not be read together.
   * A process that is stopped between two readings finds its own pause in one of them alone.
   */
  #aheadOf(clock: Clock): number | null {
    let before = this.#clock.now();
    for (let readings = 0; readings < READINGS; readings += 1) {
      const other = clock.now();
      const after = this.#clock.now();
      if (after - before <= TOGETHER_MS) return before - other;
      before = after;
    }
    return null;
  }

  /**
   * What time the cluster has. An answer is dated by whole seconds, so that the first time the server is asked a few
   * times, each time when the middle of what is still open has it that a second begins: every answer halves what is
   * open. From then on whatever is answered tells the time, and the server is asked for nothing else only where it has
   * answered nothing for a while.
   *
   * @throws ApiUnreachableError when it does not answer, or does not date its answers.
   */
  async clusterTime(signal: AbortSignal): Promise<TimeReading> {
    if (this.#clock.now() - this.#time.heardAt > TIME_FRESH_MS) await this.#askTime(signal);
    for (; this.#questions < MOST_QUESTIONS && this.#isVague(); this.#questions += 1) {
      await pause(this.#clock, untilSecond(this.#offset(), this.#clock.now()), signal);
      await this.#askTime(signal);
    }
    this.#questions = MOST_QUESTIONS;
    const { least, most } = this.#offset();
    const now = this.#clock.now();
    return { earliest: now + least, latest: now + most };
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
    using call = new Limited(this.#clock, signal, this.#limitMs);
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
          using call = new Limited(this.#clock, signal, this.#limitMs);
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

  async #send(method: string, path: string, options: CallOptions, call: Limited): Promise<TransportReply> {
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
    if (isServersOwn(reply.status)) this.#noteDate(reply.header("date"), sentAt);
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

  #offset(): TimeOffset {
    const { offset } = this.#time;
    if (offset === null) throw new ApiUnreachableError("The API server does not date its answers");
    return offset;
  }

  #isVague(): boolean {
    const { least, most } = this.#offset();
    return most - least > TIME_SPAN_MS || !this.#time.isTrusted;
  }

  #noteDate(date: string | undefined, sentAt: number): void {
    const second = date === undefined ? Number.NaN : Date.parse(date);
    if (!Number.isNaN(second)) this.#time.note(second, sentAt, this.#clock.now());
  }
}

function isObjectOf(name: string): (found: Plain) => boolean {
  return (found) => nameOf(found) === name && uidOf(found) !== "";
}

/** The object as it goes, or a `Status` once it is gone. */
function isRemovalOf(name: string): (found: Plain) => boolean {
  const isObject = isObjectOf(name);
  return (found) =>
    isObject(found) || (found["kind"] === "Status" && textAt(found, "details", "name") === name);
}

/** The name in the path of an object, or of a part of it such as its status. */
function nameIn(path: string): string {
  const [, root, ...rest] = path.split("/");
  const place = rest.slice(root === "api" ? 1 : 2);
  // A path of four has a namespace in front of collection and name; one of two is a namespace's own.
  return (place[0] === "namespaces" && place.length > 3 ? place[3] : place[1]) ?? "";
}

/** Not of a balancer in front of it, whose clock is another one: those answer for a server that cannot. */
function isServersOwn(status: number): boolean {
  return status < 500 && status !== 408 && status !== 429;
}

async function readObject(reply: TransportReply, call: Limited, request: string): Promise<Plain> {
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

/** A signal that aborts with the caller's, and by itself when nothing came for too long. */
class Limited implements Disposable {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;
  readonly #aborted: Disposable | null;
  #dueAt: number;
  #ringsAt = 0;
  #alarm: Disposable;

  constructor(clock: Clock, parent: AbortSignal, limitMs: number) {
    this.#clock = clock;
    this.#parent = parent;
    const abort = (): void => this.#controller.abort(parent.reason);
    if (parent.aborted) abort();
    this.#aborted = parent.aborted ? null : onAbort(parent, abort);
    this.#dueAt = clock.now() + limitMs;
    this.#alarm = this.#arm();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something came: the time counts anew. An alarm that is set for earlier looks again when it fires. */
  renew(limitMs: number): void {
    this.#dueAt = this.#clock.now() + limitMs;
    if (this.#dueAt >= this.#ringsAt) return;
    this.#alarm[Symbol.dispose]();
    this.#alarm = this.#arm();
  }

  /** The caller's own reason when it aborted, else what the transport met. */
  explain(error: unknown, request: string): unknown {
    if (this.#parent.aborted) return this.#parent.reason;
    if (error instanceof ApiError || error instanceof ApiUnreachableError) return error;
    const what = this.signal.aborted
      ? "no answer in time"
      : error instanceof Error
        ? error.message
        : String(error);
    return new ApiUnreachableError(`${request}: ${what}`, { cause: error });
  }

  [Symbol.dispose](): void {
    this.#alarm[Symbol.dispose]();
    this.#aborted?.[Symbol.dispose]();
  }

  #arm(): Disposable {
    this.#ringsAt = this.#dueAt;
    return this.#clock.schedule(this.#dueAt, () => {
      if (this.#clock.now() < this.#dueAt) this.#alarm = this.#arm();
      else this.#controller.abort(new ApiUnreachableError("no answer in time"));
    });
  }
}
