import { definePlan, PhasedDeadline, systemClock, type Clock } from "slipway";
import {
  BootstrapDeadlineError,
  BootstrapPermanentError,
  BootstrapRetrier,
  classify,
  exponentialBackoff,
  type Classifier,
} from "slipway/retry";
import { messageOf, type Log } from "../gateway/log.js";

/**
 * What PostgreSQL says while it restarts or has no place for one more, by the first letters of the code: a connection
 * that broke or was refused (08), an end by an administrator or a crash, a start under way (57P), too many (53300).
 *
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const AWAY = /^(?:08|57P0[1235]|53300)/;
/** Its client's own words for a connection that broke or never came, which have no code. */
const BROKEN = /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout)/;

/** Waits for what may come by itself: a mistake of whoever starts the gateway is said at once. */
export const startRules: Classifier = (error, context) => {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if ((typeof code === "string" && AWAY.test(code)) || (typeof message === "string" && BROKEN.test(message)))
    return { verdict: "transient", kind: "network", explanation: "The database is away, or restarts" };
  const known = classify(error, context);
  return known.verdict === "transient" ? known : { ...known, verdict: "permanent" };
};

const backoff = exponentialBackoff({ initialMs: 200, factor: 2, capMs: 5000, jitter: "full" });

export interface StartLimits<Started> {
  /** How long what is away is waited for, milliseconds. */
  readonly limitMs: number;
  readonly log: Log;
  readonly clock?: Clock | undefined;
  /** Ends what came up when nobody waited for it any more. */
  readonly end: (late: Started) => Promise<void>;
}

/**
 * Starts a gateway, and waits for a database that comes up at the same time. `start` leaves nothing when it fails.
 *
 * @throws what the last start failed with
 */
export async function startPatiently<Started>(
  start: () => Promise<Started>,
  { limitMs, log, clock = systemClock, end }: StartLimits<Started>,
): Promise<Started> {
  const plan = definePlan({ phases: [{ name: "start", budgetMs: limitMs }] });
  const deadline = PhasedDeadline.start(plan, { attempt: "start", clock, unref: true });
  const retrier = new BootstrapRetrier({
    clock,
    backoff,
    deadline,
    classify: startRules,
    // Coming up over many records takes as long as it takes; the deadline bounds it.
    attemptTimeoutMs: limitMs,
    onLateResult: (late) => end(late as Started),
  });
  retrier.on("waiting", () => log("start-waits", { why: retrier.status().sentence }));
  try {
    return await retrier.run(start);
  } catch (error) {
    if (error instanceof BootstrapPermanentError) throw error.cause;
    if (error instanceof BootstrapDeadlineError && error.cause instanceof Error)
      throw new Error(`not started within ${limitMs} ms: ${messageOf(error.cause)}`, { cause: error.cause });
    throw error;
  } finally {
    deadline[Symbol.dispose]();
  }
}
