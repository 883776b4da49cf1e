import { Hono, type Context } from "hono";
import { readDeadline } from "slipway";
import { observeTime } from "../decide/decision.js";
import type { Gateway } from "../gateway/gateway.js";
import { FAILURES_HEADER, readFailures } from "../metrics/failure-header.js";
import { overReason, type SandboxRecord } from "../record/record.js";
import { STILL_HERE_MS } from "../gateway/sessions.js";
import { NOT_CURRENT, SupervisorLedger, type SupervisorCaller } from "../gateway/supervisor-ledger.js";
import { activationBody, configurationQuery, reportBody } from "./bodies.js";
import { clientOf } from "./client.js";
import { errorBody, statusOf } from "./errors.js";
import { Bell, ringAtNews } from "./news.js";
import { HELD_QUESTIONS, OpenAnswers } from "./open-answers.js";
import { refuseOpen } from "./refuse-open.js";
import { bearer, readBody, readQuery } from "./request-input.js";

/** Milliseconds until the deadline that is in force for the attempt. */
export const REMAINING_HEADER = "x-slipway-remaining-ms";
/** Milliseconds from when the question came to when that was so: whoever asked counts from when it asked. */
export const HELD_HEADER = "x-slipway-held-ms";
/** Version of the deadline that this is said of: an answer that was overtaken is told by it. */
export const VERSION_HEADER = "x-slipway-deadline-version";

/** What a supervisor may do, each time with the secret of its attempt and the number of its run. */
export function supervisorRoutes(gateway: Gateway, closing: AbortSignal): Hono {
  const app = new Hono();
  const held = new OpenAnswers(HELD_QUESTIONS);
  const ledger = new SupervisorLedger(gateway);

  /**
   * Answers with a configuration newer than `after`, at once or within `waitMs`; 204 when there is none by then. What is
   * held is looked at anew at every news of the record, when its deadline comes, and now and then.
   */
  app.get("/:id/configuration", async (context) => {
    const id = context.req.param("id");
    const { after, waitMs } = readQuery(context, configurationQuery);
    const { clock } = gateway;
    const askedAt = clock.now();
    // Whoever asks for the headers alone waits for nothing.
    const until = askedAt + (context.req.method === "HEAD" ? 0 : waitMs);
    const { signal } = context.req.raw;
    const bell = new Bell();
    const doubts: Disposable[] = [];
    const listening = ringAtNews(bell, {
      gateway,
      hears: (event) => event.id === id,
      // Each in its own moment, or all of them would come to the store at once.
      onDoubt: (ring) => void doubts.push(clock.schedule(clock.now() + momentOf(id), ring)),
      signals: [signal, closing],
    });
    let place: Disposable | null = null;
    try {
      for (;;) {
        bell.clear();
        for (const doubt of doubts.splice(0)) doubt[Symbol.dispose]();
        const found = await gateway.authenticate(id, bearer(context), runOf(context));
        if (typeof found === "string") return refusal(context, found, NOT_CURRENT);
        const now = clock.now();
        // As time has made it: an expiry that nobody wrote yet is one all the same.
        const record = observeTime(found.record, now);
        const over = overReason(record);
        if (over !== null) return refusal(context, over, `the sandbox is ${record.phase}`);
        tellDeadline(context, record, { askedAt, now });
        const { generation, digest, policy } = record.configuration;
        if (generation > after) return context.json({ generation, digest, policy });
        if (now >= until || signal.aborted || closing.aborted) return context.body(null, 204);
        if (place === null) {
          const entered = held.enter(clientOf(context));
          if (typeof entered === "string") return refuseOpen(context, entered);
          place = entered;
        }
        const lookAt = Math.min(until, now + gateway.lookEveryMs, now + remainingOf(record, now));
        while (!bell.hasRung() && clock.now() < lookAt) {
          await bell.wait(clock, Math.min(lookAt, clock.now() + STILL_HERE_MS));
          if (!context.req.raw.signal.aborted) gateway.stillHere(record);
        }
      }
    } finally {
      listening[Symbol.dispose]();
      for (const doubt of doubts) doubt[Symbol.dispose]();
      place?.[Symbol.dispose]();
    }
  });

  app.post("/:id/report", async (context) => {
    const askedAt = gateway.clock.now();
    const report = await readBody(context, reportBody);
    const id = context.req.param("id");
    const result = await gateway.report(id, bearer(context), runOf(context), report);
    if (result.ok) gateway.noteFailures(readFailures(context.req.header(FAILURES_HEADER)));
    if (!result.ok) return refusal(context, result.code, result.message);
    const found = await gateway.records.read(id);
    if (found !== null) tellDeadline(context, found.record, { askedAt, now: gateway.clock.now() });
    return context.json({ activate: result.activate });
  });

  /** The ledger entry of the instance that these credentials are of. */
  app.get("/:id/activation", async (context) => {
    const askedAt = gateway.clock.now();
    const answer = await ledger.read(callerOf(context));
    if (!answer.ok) return refusal(context, answer.code, answer.message);
    tellDeadline(context, answer.record, { askedAt, now: answer.now });
    return context.json({ entry: answer.value });
  });

  /** Compare-and-swap on it; `swapped: false` asks for another look. */
  app.post("/:id/activation", async (context) => {
    const askedAt = gateway.clock.now();
    const swap = await readBody(context, activationBody);
    const answer = await ledger.swap(callerOf(context), swap);
    if (!answer.ok) return refusal(context, answer.code, answer.message);
    tellDeadline(context, answer.record, { askedAt, now: answer.now });
    return context.json({ swapped: answer.value });
  });
  return app;
}

/** With every answer, so that the supervisor's one deadline is this gateway's. Absent: there is none any more. */
function tellDeadline(
  context: Context,
  { deadline }: SandboxRecord,
  { askedAt, now }: { readonly askedAt: number; readonly now: number },
): void {
  context.header(HELD_HEADER, String(Math.max(Math.floor(now - askedAt), 0)));
  if (deadline !== null) context.header(VERSION_HEADER, String(deadline.version));
  // One that passed is no deadline that is over with: who heard of none would go on without an end.
  if (deadline?.status === "expired") context.header(REMAINING_HEADER, "0");
  if (deadline?.status !== "active") return;
  const { remainingMs } = readDeadline(deadline, now);
  if (Number.isFinite(remainingMs))
    context.header(REMAINING_HEADER, String(Math.max(Math.floor(remainingMs), 0)));
}

function refusal(context: Context, code: string, message: string): Response {
  return context.json(errorBody(code, message), statusOf(code));
}

function callerOf(context: Context): SupervisorCaller {
  return { id: context.req.param("id") ?? "", token: bearer(context), run: runOf(context) };
}

function runOf(context: Context): number {
  return Number(context.req.header("x-slipway-run") ?? Number.NaN);
}

/** Milliseconds until the deadline in force. */
function remainingOf({ deadline }: SandboxRecord, now: number): number {
  if (deadline?.status !== "active") return Number.POSITIVE_INFINITY;
  return Math.max(readDeadline(deadline, now).remainingMs, 0);
}

const MOMENTS_MS = 1000;

/** Where in a second a sandbox has its turn: the same each time, and another for each. */
function momentOf(id: string): number {
  let hash = 0;
  for (let index = 0; index < id.length; index += 1) hash = (hash * 31 + id.charCodeAt(index)) >>> 0;
  return hash % MOMENTS_MS;
}
