import { describe, expect, it } from "vitest";
import type { AttemptFailure } from "./attempt-failure.js";
import { BootstrapDeadlineError, BootstrapExhaustedError, BootstrapPermanentError } from "./errors.js";

const failure = (facts: Partial<AttemptFailure> = {}): AttemptFailure => ({
  attempt: 1,
  startedAt: 0,
  endedAt: 1,
  verdict: "permanent",
  code: "HTTP_401",
  kind: "authentication",
  explanation: "The credentials are refused",
  message: "no token",
  waitMs: null,
  hintMs: null,
  hintClamped: false,
  error: undefined,
  ...facts,
});
const cause = new Error("the last one");
const passed = { waitMs: null, remainingMs: 0, hintMs: null, deadlineReason: undefined };

describe("the error of a bootstrap", () => {
  it.each([
    [
      () => new BootstrapPermanentError([failure()], cause),
      "BootstrapPermanentError: Bootstrap failure is permanent: HTTP_401: no token. The credentials are refused",
    ],
    [
      () => new BootstrapPermanentError([failure({ verdict: "suspect" })], cause),
      "BootstrapPermanentError: Bootstrap failure did not pass in time: HTTP_401: no token. The credentials are refused",
    ],
    [
      () => new BootstrapPermanentError([failure({ message: "The credentials are refused" })], cause),
      "BootstrapPermanentError: Bootstrap failure is permanent: HTTP_401. The credentials are refused",
    ],
    [() => new BootstrapPermanentError([], cause), "BootstrapPermanentError: Bootstrap failure is permanent"],
    [
      () => new BootstrapDeadlineError([failure()], cause, passed),
      "BootstrapDeadlineError: Bootstrap ended: The deadline passed; last failure: HTTP_401",
    ],
    [
      () => new BootstrapDeadlineError([], cause, { ...passed, waitMs: 7000, remainingMs: 300 }),
      "BootstrapDeadlineError: Bootstrap ended: The next attempt is due in 7000 ms, the deadline in 300 ms",
    ],
    [
      () => new BootstrapExhaustedError([failure()], cause, 3),
      "BootstrapExhaustedError: Bootstrap ended after 3 attempts; last failure: HTTP_401",
    ],
  ])("says by whom it ended and by what, %#", (make, text) => {
    const error = make();
    expect(String(error)).toBe(text);
    expect(error.cause).toBe(cause);
  });

  it("has the attempt that decided, where there was one", () => {
    const [first, last] = [failure(), failure({ attempt: 2 })];
    expect(new BootstrapExhaustedError([first, last], cause, 2).lastFailure).toBe(last);
    expect(new BootstrapExhaustedError([], cause, 2).lastFailure).toBeUndefined();
  });
});
