import { invalid, show, SlipwayError } from "../errors.js";
import type { AttemptFailure } from "./attempt-failure.js";
import type { RetryProgress } from "./progress.js";
import { isVerdict } from "./verdict.js";

/**
 * Where a run stands:
 *
 * - `idle`: not started;
 * - `attempting`: an attempt, or a refresh of credentials, is under way;
 * - `waiting`: for the next attempt;
 * - `succeeded`, `failed`, `cancelled`: over.
 *
 * @public
 */
export type RetryState = "idle" | "attempting" | "waiting" | "succeeded" | "failed" | "cancelled";

/** One failure in a snapshot: without the error object. */
export type StoredFailure = Omit<AttemptFailure, "error">;

/**
 * A run as plain JSON, to be kept across restarts.
 *
 * @public
 */
export interface RetrySnapshot extends RetryProgress {
  /** Version of this shape. Another one is refused by `restore`. */
  readonly schemaVersion: 1;
  /** Where the run stood. */
  readonly state: RetryState;
  /** Epoch milliseconds: when this was taken. */
  readonly observedAt: number;
  /** When the run began; `null` before it did. */
  readonly startedAt: number | null;
  /** When the attempt under way, or the last one, began. */
  readonly attemptStartedAt: number | null;
  /** When the next attempt is due; `null` when none is planned. */
  readonly nextAttemptAt: number | null;
  /** When `retryNow` last ended a wait. */
  readonly retryNowAt: number | null;
  /** The first failure, and the latest up to `historyLimit`. */
  readonly history: readonly StoredFailure[];
  /** When the run ended; absent before, and in what earlier releases wrote. */
  readonly endedAt?: number;
  /** How it failed; absent unless it did, and in what earlier releases wrote. */
  readonly outcome?: "permanent" | "deadline" | "exhausted";
}

/** How a run failed. */
export type FailureOutcome = NonNullable<RetrySnapshot["outcome"]>;

const OUTCOMES: readonly unknown[] = ["permanent", "deadline", "exhausted"] satisfies FailureOutcome[];

const STATES: readonly unknown[] = [
  "idle",
  "attempting",
  "waiting",
  "succeeded",
  "failed",
  "cancelled",
] satisfies RetryState[];

/** No history is that long, whatever limit was set: a larger one is no record of this library. */
const MOST_STORED = 10_000;

/**
 * Reads a stored snapshot strictly: a record that is partial or contradicts itself is an error, never a fresh start
 * that would storm the gateway.
 *
 * @throws {@link SlipwayError} `INVALID_STATE` naming the field; `UNSUPPORTED_SCHEMA_VERSION` for a newer record.
 *
 * @public
 */
export function decodeRetrySnapshot(value: unknown): RetrySnapshot {
  const record = asRecord("", value);
  const schemaVersion = record["schemaVersion"];
  if (schemaVersion !== 1) {
    if (Number.isSafeInteger(schemaVersion) && (schemaVersion as number) > 1)
      throw new SlipwayError(
        "UNSUPPORTED_SCHEMA_VERSION",
        `Unsupported retry snapshot: schemaVersion must be 1, got ${show(schemaVersion)}`,
        { field: "schemaVersion", value: schemaVersion },
      );
    throw wrong("schemaVersion", "1", schemaVersion);
  }
  const { history } = record;
  if (!Array.isArray(history) || history.length > MOST_STORED) throw wrong("history", "a list", history);
  const snapshot: RetrySnapshot = {
    schemaVersion: 1,
    state: stateOf(record["state"]),
    observedAt: whole(record, "observedAt"),
    startedAt: wholeOrNull(record, "startedAt"),
    attemptStartedAt: wholeOrNull(record, "attemptStartedAt"),
    nextAttemptAt: wholeOrNull(record, "nextAttemptAt"),
    retryNowAt: wholeOrNull(record, "retryNowAt"),
    attempts: whole(record, "attempts"),
    failures: whole(record, "failures"),
    previousMs: wholeOrNull(record, "previousMs"),
    suspects: whole(record, "suspects"),
    suspectSince: wholeOrNull(record, "suspectSince"),
    refreshed: flag(record, "refreshed"),
    transientCount: whole(record, "transientCount"),
    permanentCount: whole(record, "permanentCount"),
    suspectCount: whole(record, "suspectCount"),
    cancelledCount: whole(record, "cancelledCount"),
    history: history.map(decodeFailure),
    ...(record["endedAt"] === undefined ? undefined : { endedAt: whole(record, "endedAt") }),
    ...(record["outcome"] === undefined ? undefined : { outcome: outcomeOf(record["outcome"]) }),
  };
  requireKnown(record, snapshot);
  requireConsistent(snapshot);
  return snapshot;
}

function requireConsistent(snapshot: RetrySnapshot): void {
  const { state, observedAt, startedAt, attemptStartedAt, nextAttemptAt, suspects, suspectSince } = snapshot;
  const { endedAt, outcome } = snapshot;
  const isOver = state === "succeeded" || state === "failed" || state === "cancelled";
  if (endedAt !== undefined && (!isOver || endedAt > observedAt))
    throw wrong("endedAt", `right for ${state} at observedAt`, endedAt);
  if (outcome !== undefined && state !== "failed") throw wrong("outcome", `absent for ${state}`, outcome);
  const past: readonly (keyof RetrySnapshot)[] = ["startedAt", "attemptStartedAt", "suspectSince"];
  for (const field of past) {
    const at = snapshot[field] as number | null;
    if (at !== null && at > observedAt) throw wrong(field, "no later than observedAt", at);
  }
  if ((startedAt === null) !== (state === "idle")) throw wrong("startedAt", `right for ${state}`, startedAt);
  if ((snapshot.attempts === 0) !== (attemptStartedAt === null) && state !== "cancelled")
    throw wrong("attemptStartedAt", `right for ${snapshot.attempts} attempts`, attemptStartedAt);
  if (state === "waiting" && nextAttemptAt === null)
    throw wrong("nextAttemptAt", "an instant", nextAttemptAt);
  if (state === "attempting" && snapshot.attempts === 0) throw wrong("attempts", "1 or more", 0);
  if ((suspects === 0) !== (suspectSince === null))
    throw wrong("suspectSince", `right for ${suspects} suspects`, suspectSince);
  const { transientCount, permanentCount, suspectCount, cancelledCount, attempts } = snapshot;
  const counted = transientCount + permanentCount + suspectCount + cancelledCount;
  if (counted > attempts) throw wrong("attempts", `at least ${counted}, the failures`, attempts);
  if (startedAt !== null && attemptStartedAt !== null && attemptStartedAt < startedAt)
    throw wrong("attemptStartedAt", "no earlier than startedAt", attemptStartedAt);
  if ((state === "succeeded" || state === "failed") && nextAttemptAt !== null)
    throw wrong("nextAttemptAt", `null for ${state}`, nextAttemptAt);
  if (suspects > suspectCount) throw wrong("suspects", `at most ${suspectCount}, those counted`, suspects);
  requireHistory(snapshot);
  if (snapshot.failures > snapshot.attempts)
    throw wrong("failures", `at most ${snapshot.attempts}`, snapshot.failures);
}

/** Every failure is of an attempt of its own, in their order, and was counted by its verdict. */
function requireHistory(snapshot: RetrySnapshot): void {
  let before = 0;
  const kept = { transient: 0, permanent: 0, suspect: 0, cancelled: 0 };
  for (const [index, { attempt, startedAt, endedAt, verdict }] of snapshot.history.entries()) {
    const field = `history[${index}]`;
    if (attempt <= before || attempt > snapshot.attempts)
      throw wrong(`${field}.attempt`, `from ${before + 1} to ${snapshot.attempts}`, attempt);
    if (endedAt < startedAt) throw wrong(`${field}.endedAt`, "no earlier than startedAt", endedAt);
    before = attempt;
    kept[verdict] += 1;
    const counted = snapshot[`${verdict}Count`];
    if (kept[verdict] > counted) throw wrong("history", `at most ${counted} of ${verdict}`, kept[verdict]);
  }
}

function decodeFailure(value: unknown, index: number): StoredFailure {
  const field = `history[${index}]`;
  const record = asRecord(field, value);
  const { verdict } = record;
  if (!isVerdict(verdict)) throw wrong(`${field}.verdict`, "a verdict", verdict);
  const failure: StoredFailure = {
    attempt: whole(record, "attempt", field),
    startedAt: whole(record, "startedAt", field),
    endedAt: whole(record, "endedAt", field),
    verdict,
    code: text(record, "code", field),
    kind: text(record, "kind", field) as StoredFailure["kind"],
    explanation: text(record, "explanation", field),
    message: text(record, "message", field),
    waitMs: wholeOrNull(record, "waitMs", field),
    hintMs: wholeOrNull(record, "hintMs", field),
    hintClamped: flag(record, "hintClamped", field),
  };
  requireKnown(record, failure, `${field}.`);
  return failure;
}

/** What is not known here would be lost with the next write. */
function requireKnown(record: Fields, known: object, under = ""): void {
  const name = Object.keys(record).find((each) => !Object.hasOwn(known, each));
  if (name !== undefined) throw wrong(`${under}${name}`, "absent", record[name]);
}

type Fields = Readonly<Record<string, unknown>>;

function asRecord(field: string, value: unknown): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw wrong(field, "an object", value);
}

function stateOf(value: unknown): RetryState {
  if (STATES.includes(value)) return value as RetryState;
  throw wrong("state", "a state of a run", value);
}

function outcomeOf(value: unknown): FailureOutcome {
  if (OUTCOMES.includes(value)) return value as FailureOutcome;
  throw wrong("outcome", "a way to fail", value);
}

function whole(record: Fields, name: string, under?: string): number {
  const value = record[name];
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw wrong(under === undefined ? name : `${under}.${name}`, "a safe integer, 0 or more", value);
}

function wholeOrNull(record: Fields, name: string, under?: string): number | null {
  return record[name] === null ? null : whole(record, name, under);
}

function flag(record: Fields, name: string, under?: string): boolean {
  const value = record[name];
  if (typeof value === "boolean") return value;
  throw wrong(under === undefined ? name : `${under}.${name}`, "true or false", value);
}

function text(record: Fields, name: string, under: string): string {
  const value = record[name];
  if (typeof value === "string") return value;
  throw wrong(`${under}.${name}`, "a text", value);
}

function wrong(field: string, expected: string, value: unknown): SlipwayError {
  return invalid("INVALID_STATE", "retry snapshot", field, expected, value);
}
