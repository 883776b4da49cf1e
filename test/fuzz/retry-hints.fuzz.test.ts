import fc from "fast-check";
import { expect } from "vitest";
import { classify, parsePushback, parseRetryAfter } from "../../src/retry/index.js";
import { fuzz, json } from "./fuzz.js";
import { hostile, mutated } from "./mutations.js";

/** What a peer may say about when to come back, in each of the places where it may say it. */
interface Hinted {
  readonly header: unknown;
  readonly error: unknown;
  readonly now: number | null;
}

const NOW = 1_800_000_000_000;

function isWait(ms: unknown): boolean {
  return Number.isSafeInteger(ms) && (ms as number) >= 0;
}

/** A wait that can be counted with, or none; and a verdict on whatever was thrown, the same each time. */
function law({ header, error, now: at }: Hinted): void {
  const now = at ?? undefined;
  if (typeof header === "string") {
    const wait = parseRetryAfter(header, now);
    expect(wait === null || isWait(wait)).toBe(true);
    if (!/^\s*\d/.test(header) && now === undefined) expect(wait).toBeNull();
    const pushback = parsePushback(header);
    expect(pushback === "stop" || isWait(pushback)).toBe(true);
    if (header.includes("-")) expect(pushback).toBe("stop");
  }
  for (const thrown of [
    error,
    asError(error),
    new AggregateError([asError(error), error]),
    unreadable(error),
  ]) {
    const found = classify(thrown, { now });
    expect(["transient", "suspect", "permanent"]).toContain(found.verdict);
    expect(found.code).toBeTypeOf("string");
    expect(found.explanation).not.toBe("");
    for (const hint of [found.retryAfterMs, found.pushbackMs])
      expect(hint === undefined || isWait(hint)).toBe(true);
    expect(classify(thrown, { now })).toEqual(found);
  }
}

/** As a client library throws it: an error with the fields of the answer, and headers that ignore letter case. */
function asError(fields: unknown): Error {
  const own = typeof fields === "object" && fields !== null ? Object.entries(fields) : [];
  const error = new Error("request failed", { cause: fields });
  for (const [name, value] of own) {
    Object.defineProperty(error, name, {
      value: name === "headers" ? bagOf(value) : value,
      enumerable: true,
    });
  }
  return error;
}

function bagOf(headers: unknown): unknown {
  const entries = typeof headers === "object" && headers !== null ? Object.entries(headers) : [];
  return new Map(entries.map(([name, value]) => [name.toLowerCase(), value as unknown]));
}

/** Every look at it fails. */
function unreadable(of: unknown): unknown {
  const refuse = (): never => {
    throw new Error("not to be looked at");
  };
  return new Proxy(new Error(JSON.stringify(of)), {
    get: refuse,
    has: refuse,
    ownKeys: refuse,
    getPrototypeOf: refuse,
  });
}

const headers = { "Retry-After": "120", "retry-after-ms": "1500", "x-ratelimit-remaining": "0" };
const errors: readonly unknown[] = [
  { status: 429, headers },
  { response: { status: 503, headers: { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" } } },
  { statusCode: 403, headers },
  {
    code: 14,
    details: "Name resolution failed for target dns:///host:1",
    metadata: { "grpc-retry-pushback-ms": "-1" },
  },
  { code: 8, details: "no quota", metadata: { "grpc-retry-pushback-ms": ["250"], "retry-after": 3 } },
  { code: "ECONNREFUSED", syscall: "connect", cause: { code: "CERT_HAS_EXPIRED" } },
  { name: "AggregateError", errors: [{ code: "ENOTFOUND" }, { errors: [] }], cause: { status: 500 } },
  { "~slipway/verdict": "transient", retryAfterMs: 5, cause: { code: "ETIMEDOUT" } },
];
const dates = fc.date({ noInvalidDate: true }).map((date) => date.toUTCString());
const header = fc.oneof(
  hostile,
  dates,
  fc.bigInt().map(String),
  fc.constantFrom(
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
    "120, 30",
    "1e3",
    "-3",
    " 7 ",
    "+7",
  ),
  fc.stringMatching(/^[A-Za-z]{3}, [0-9]{2} [A-Za-z]{3} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/),
);

fuzz<Hinted>({
  name: "retry-hints",
  corpus: new URL("corpus/", import.meta.url),
  codec: json as never,
  inputs: fc.record({
    header,
    error: fc.oneof(
      { weight: 5, arbitrary: mutated(errors) },
      header.map((text) => ({ status: 429, headers: { "retry-after": text } })),
    ),
    now: fc.constantFrom(NOW, 0, -1, 8.64e15 - 1, null),
  }),
  law,
  runs: 400,
});
