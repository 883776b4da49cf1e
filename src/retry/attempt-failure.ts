import { show } from "../errors.js";
import { readInteger, readText } from "./classify/inspect.js";
import { unmarked } from "./marks.js";
import { failureText, type FailureKind, type Verdict } from "./verdict.js";

/**
 * One failed attempt, as history, events and errors carry it. Plain JSON but for `error`.
 *
 * @public
 */
export interface AttemptFailure {
  /** 1 for the first attempt of the run. */
  readonly attempt: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Epoch milliseconds. */
  readonly endedAt: number;
  /** What the failure means for the run. */
  readonly verdict: Verdict;
  /** The code that decided, cut to 500 characters. See {@link Classification.code}. */
  readonly code: string;
  /** What the failure is about. */
  readonly kind: FailureKind;
  /** Why the code has this verdict, for people, cut to 500 characters. */
  readonly explanation: string;
  /** What the error says, cut to 500 characters. */
  readonly message: string;
  /** The wait that was planned after it; `null` when none followed. */
  readonly waitMs: number | null;
  /** The wait that the peer asked for; `null` when it asked for none. */
  readonly hintMs: number | null;
  /** The peer asked for more than `hintCapMs`, which was used in its place. */
  readonly hintClamped: boolean;
  /** What was thrown, by identity; `undefined` after a restart. */
  readonly error: unknown;
}

/** What anything thrown says. */
export function messageOf(error: unknown): string {
  const thrown = unmarked(error);
  const message = readText(thrown, "message");
  if (message !== undefined && message !== "") return failureText(message);
  const said = readText(thrown, "details") ?? answerText(thrown) ?? readText(thrown, "name");
  return failureText(said ?? show(thrown));
}

/** What an answer over HTTP says that was thrown as it is. */
function answerText(thrown: unknown): string | undefined {
  const status = readInteger(thrown, "status") ?? 0;
  if (status < 100 || status > 599) return undefined;
  return `HTTP ${status} ${readText(thrown, "statusText") ?? ""}`.trim();
}

/** A failure as plain JSON. */
export function storedFailure(failure: AttemptFailure): Omit<AttemptFailure, "error"> {
  return {
    attempt: failure.attempt,
    startedAt: failure.startedAt,
    endedAt: failure.endedAt,
    verdict: failure.verdict,
    code: failure.code,
    kind: failure.kind,
    explanation: failure.explanation,
    message: failure.message,
    waitMs: failure.waitMs,
    hintMs: failure.hintMs,
    hintClamped: failure.hintClamped,
  };
}
