import { describe, expect, it } from "vitest";
import { parseConditions } from "../conditions/index.js";
import { VirtualClock } from "../testing/index.js";
import { BootstrapRetrier, type AttemptFailure, type BootstrapRetrierOptions } from "./index.js";

/** A retrier whose only attempt threw `error`. */
async function failed(error: unknown, options: BootstrapRetrierOptions = {}): Promise<BootstrapRetrier> {
  const retrier = new BootstrapRetrier({ clock: new VirtualClock(), maxAttempts: 1, ...options });
  const attempt = (): never => {
    throw error;
  };
  await retrier.run(attempt).catch(() => undefined);
  return retrier;
}

describe("the texts of a failure", () => {
  const long = "x".repeat(1e6);
  const textsOf = ({ code, kind, explanation, message }: AttemptFailure): string[] => [
    code,
    kind,
    explanation,
    message,
  ];

  it.each([
    ["message", { message: long }],
    ["details", { details: long }],
    ["name", { name: long }],
    ["code", { code: long }],
    ["a symbol", Symbol(long)],
    ["a text", long],
  ])("are bounded, whatever carries a long one: %s", async (_where, error) => {
    const { lastError } = (await failed(error)).status();
    expect(lastError).not.toBeNull();
    for (const text of textsOf(lastError!)) expect(text.length).toBeLessThanOrEqual(500);
  });

  it("are bounded where the embedder's classifier gives them", async () => {
    const answer = { verdict: "permanent", code: long, explanation: long, kind: long as "unknown" } as const;
    const { lastError } = (await failed(new Error("x"), { classify: () => answer })).status();
    expect(textsOf(lastError!).map((text) => text.length)).toEqual([500, 500, 500, 1]);
  });
});

describe("the cause of a condition", () => {
  it.each([
    ["22003", "Reason_22003"],
    ["", "NoReasonReported"],
    ["503 Service", "Reason_503_Service"],
    ["ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE", "ERR_SSL_SSL_TLS_ALERT_BAD_CERTIFICATE"],
    ["ECONNREFUSED", "ECONNREFUSED"],
  ])("has a reason that a condition may have: %j", async (code, reason) => {
    const condition = (await failed(Object.assign(new Error("no"), { code }))).toCondition();
    expect(condition.cause).toMatchObject({ reason });
    expect(parseConditions([condition])).toEqual([condition]);
  });
});
