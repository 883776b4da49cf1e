import { describe, expect, it } from "vitest";
import { isSlipwayError } from "../errors.js";
import { decodeRetrySnapshot, type RetrySnapshot } from "./index.js";

const failure = {
  attempt: 1,
  startedAt: 100,
  endedAt: 110,
  verdict: "transient",
  code: "ECONNREFUSED",
  kind: "network",
  explanation: "why",
  message: "what",
  waitMs: 5,
  hintMs: null,
  hintClamped: false,
} as const;
const second = { ...failure, attempt: 2, startedAt: 200, endedAt: 210, verdict: "suspect" } as const;
const waiting: RetrySnapshot = {
  schemaVersion: 1,
  state: "waiting",
  observedAt: 1000,
  startedAt: 100,
  attemptStartedAt: 200,
  nextAttemptAt: 2000,
  retryNowAt: null,
  attempts: 2,
  failures: 2,
  previousMs: 5,
  suspects: 1,
  suspectSince: 210,
  refreshed: false,
  transientCount: 1,
  permanentCount: 0,
  suspectCount: 1,
  cancelledCount: 0,
  history: [failure, second],
};
const idle: RetrySnapshot = {
  ...waiting,
  state: "idle",
  startedAt: null,
  attemptStartedAt: null,
  nextAttemptAt: null,
  attempts: 0,
  failures: 0,
  previousMs: null,
  suspects: 0,
  suspectSince: null,
  transientCount: 0,
  suspectCount: 0,
  history: [],
};
const over = { nextAttemptAt: null } as const;

describe("a stored run", () => {
  it.each<[string, RetrySnapshot]>([
    ["that waits", waiting],
    ["that has not begun", idle],
    [
      "in its first attempt",
      { ...idle, state: "attempting", startedAt: 100, attemptStartedAt: 100, attempts: 1 },
    ],
    ["that refreshes credentials, due at its instant", { ...waiting, state: "waiting", nextAttemptAt: 200 }],
    ["that succeeded", { ...waiting, ...over, state: "succeeded", endedAt: 1000 }],
    ["that failed, as earlier releases wrote it", { ...waiting, ...over, state: "failed" }],
    ["that failed for good", { ...waiting, ...over, state: "failed", outcome: "permanent", endedAt: 500 }],
    ["that failed at its deadline", { ...waiting, ...over, state: "failed", outcome: "deadline" }],
    ["that was exhausted", { ...waiting, ...over, state: "failed", outcome: "exhausted" }],
    ["that was cancelled and may be gone on with", { ...waiting, state: "cancelled", endedAt: 1000 }],
    ["that was cancelled before its first attempt", { ...idle, state: "cancelled", startedAt: 1000 }],
    [
      "that was cancelled with its history dropped",
      { ...waiting, state: "cancelled", attemptStartedAt: null },
    ],
    [
      "whose instants are the same",
      { ...waiting, startedAt: 1000, attemptStartedAt: 1000, suspectSince: 1000 },
    ],
    [
      "of every verdict",
      {
        ...waiting,
        attempts: 4,
        permanentCount: 1,
        cancelledCount: 1,
        history: [
          failure,
          second,
          { ...failure, attempt: 3, verdict: "permanent" },
          { ...failure, attempt: 4, verdict: "cancelled" },
        ],
      },
    ],
    ["of which a failure ended as it began", { ...waiting, history: [{ ...failure, endedAt: 100 }, second] }],
    [
      "of more failures than are kept",
      {
        ...waiting,
        attempts: 9,
        failures: 9,
        transientCount: 8,
        history: [failure, { ...second, attempt: 9 }],
      },
    ],
    [
      "with hints",
      {
        ...waiting,
        retryNowAt: 900,
        history: [{ ...failure, waitMs: null, hintMs: 7, hintClamped: true }, second],
      },
    ],
  ])("%s is read as it is", (_what, snapshot) => {
    const read = decodeRetrySnapshot(JSON.parse(JSON.stringify(snapshot)));
    expect(read).toEqual(snapshot);
  });

  const whole = "a safe integer, 0 or more";
  it.each<[string, object, string]>([
    ["schemaVersion", { schemaVersion: 0 }, "1, got 0"],
    ["schemaVersion", { schemaVersion: "1" }, "1, got"],
    ["schemaVersion", { schemaVersion: undefined }, "1, got"],
    ["schemaVersion", { schemaVersion: 1.5 }, "1, got 1.5"],
    ["history", { history: {} }, "a list"],
    ["history", { history: Array.from({ length: 10_001 }, () => failure) }, "a list"],
    ["state", { state: "resting" }, "a state of a run"],
    ...(
      [
        "observedAt",
        "startedAt",
        "attemptStartedAt",
        "nextAttemptAt",
        "retryNowAt",
        "attempts",
        "failures",
        "previousMs",
        "suspects",
        "suspectSince",
        "transientCount",
        "permanentCount",
        "suspectCount",
        "cancelledCount",
        "endedAt",
      ] as const
    ).map((field): [string, object, string] => [field, { [field]: -1 }, whole]),
    ...(["observedAt", "attempts", "failures", "suspects", "transientCount", "endedAt"] as const).map(
      (field): [string, object, string] => [field, { [field]: null }, whole],
    ),
    ["startedAt", { startedAt: undefined }, whole],
    ["attempts", { attempts: 1.5 }, whole],
    ["observedAt", { observedAt: 2 ** 53 }, whole],
    ["refreshed", { refreshed: "no" }, "true or false"],
    ["outcome", { outcome: "lost" }, "a way to fail"],
    ["extra", { extra: 1 }, "absent"],
    ["history[0]", { history: [5] }, "an object"],
    ["history[1].verdict", { history: [failure, { ...second, verdict: "odd" }] }, "a verdict"],
    ...(["attempt", "startedAt", "endedAt", "waitMs", "hintMs"] as const).map(
      (field): [string, object, string] => [
        `history[0].${field}`,
        { history: [{ ...failure, [field]: "x" }, second] },
        whole,
      ],
    ),
    ...(["code", "kind", "explanation", "message"] as const).map((field): [string, object, string] => [
      `history[0].${field}`,
      { history: [{ ...failure, [field]: 5 }, second] },
      "a text",
    ]),
    ["history[0].hintClamped", { history: [{ ...failure, hintClamped: 0 }, second] }, "true or false"],
    ["history[1].error", { history: [failure, { ...second, error: "x" }] }, "absent"],
    ["endedAt", { endedAt: 900 }, "right for waiting at observedAt"],
    ["endedAt", { ...over, state: "succeeded", endedAt: 1001 }, "right for succeeded at observedAt"],
    ["outcome", { outcome: "permanent" }, "absent for waiting"],
    ["outcome", { ...over, state: "succeeded", outcome: "permanent" }, "absent for succeeded"],
    ["startedAt", { startedAt: 1001 }, "no later than observedAt"],
    ["attemptStartedAt", { attemptStartedAt: 1001 }, "no later than observedAt"],
    ["suspectSince", { suspectSince: 1001 }, "no later than observedAt"],
    ["startedAt", { startedAt: null }, "right for waiting"],
    ["startedAt", { state: "idle" }, "right for idle"],
    ["attemptStartedAt", { attemptStartedAt: null }, "right for 2 attempts"],
    ["attemptStartedAt", { attempts: 0 }, "right for 0 attempts"],
    ["nextAttemptAt", { nextAttemptAt: null }, "an instant"],
    ["attempts", { state: "attempting", attempts: 0, attemptStartedAt: null }, "1 or more"],
    ["suspectSince", { suspectSince: null }, "right for 1 suspects"],
    ["suspectSince", { suspects: 0 }, "right for 0 suspects"],
    ["attempts", { attempts: 1 }, "at least 2, the failures"],
    ["attempts", { permanentCount: 1 }, "at least 3, the failures"],
    ["attempts", { cancelledCount: 1 }, "at least 3, the failures"],
    ["attemptStartedAt", { attemptStartedAt: 99 }, "no earlier than startedAt"],
    ["nextAttemptAt", { state: "failed" }, "null for failed"],
    ["nextAttemptAt", { state: "succeeded" }, "null for succeeded"],
    ["suspects", { suspects: 2 }, "at most 1, those counted"],
    ["history[0].attempt", { history: [{ ...failure, attempt: 0 }] }, "from 1 to 2"],
    ["history[1].attempt", { history: [failure, { ...second, attempt: 1 }] }, "from 2 to 2"],
    ["history[1].attempt", { history: [failure, { ...second, attempt: 3 }] }, "from 2 to 2"],
    ["history[0].endedAt", { history: [{ ...failure, endedAt: 99 }] }, "no earlier than startedAt"],
    ["history", { history: [failure, { ...second, verdict: "transient" }] }, "at most 1 of transient"],
    ["history", { history: [{ ...failure, verdict: "permanent" }] }, "at most 0 of permanent"],
    ["failures", { failures: 3 }, "at most 2"],
  ])("is refused by the name of %s: %o", (field, changes, expected) => {
    expect(() => decodeRetrySnapshot({ ...waiting, ...changes })).toThrow(
      expect.objectContaining({
        code: "INVALID_STATE",
        field,
        message: expect.stringContaining(`Invalid retry snapshot: ${field} must be ${expected}`) as string,
      }),
    );
  });

  it.each([null, 5, "text", []])("is no %o", (value) => {
    expect(() => decodeRetrySnapshot(value)).toThrow("Invalid retry snapshot must be an object, got ");
  });

  it("of a newer release is told from one that is wrong", () => {
    expect(() => decodeRetrySnapshot({ ...waiting, schemaVersion: 2 })).toThrow(
      expect.objectContaining({
        code: "UNSUPPORTED_SCHEMA_VERSION",
        field: "schemaVersion",
        value: 2,
        message: "Unsupported retry snapshot: schemaVersion must be 1, got 2",
      }),
    );
  });
});

describe("a snapshot that contradicts itself", () => {
  it("is one only where something is wrong with it", () => {
    expect(decodeRetrySnapshot(waiting)).toEqual(waiting);
  });

  it.each<[string, Partial<RetrySnapshot>]>([
    ["attemptStartedAt", { attemptStartedAt: 99 }],
    ["nextAttemptAt", { state: "failed" }],
    ["nextAttemptAt", { state: "succeeded" }],
    ["suspects", { suspects: 2 }],
    ["history[0].attempt", { history: [{ ...failure, attempt: 0 }] }],
    ["history[1].attempt", { history: [failure, failure] }],
    ["history[0].attempt", { history: [{ ...failure, attempt: 999 }] }],
    ["history[0].endedAt", { history: [{ ...failure, endedAt: 99 }] }],
    ["history", { history: [failure, { ...failure, attempt: 2 }] }],
  ])("is refused by the name of %s: %o", (field, wrong) => {
    expect(() => decodeRetrySnapshot({ ...waiting, ...wrong })).toThrow(
      expect.toSatisfy(
        (error) => isSlipwayError(error) && error.code === "INVALID_STATE" && error.field === field,
      ) as Error,
    );
  });
});
