import { sanitizeReason, type Clock, type DeadlineState } from "slipway";
import { mintRun, recordLaunched, recordLaunchFailure, renewLease } from "../decide/driver-report.js";
import { recordProgress } from "../decide/progress-report.js";
import { checkProgress } from "../driver/check-progress.js";
import {
  PermanentDriverError,
  type Driver,
  type LaunchContext,
  type LaunchRequest,
} from "../driver/driver.js";
import { InvalidInputError } from "../input-error.js";
import type { Json } from "../record/json.js";
import type { Instance, SandboxRecord } from "../record/record.js";
import { sleep } from "../sleep.js";
import type { BackendLooks } from "./backend-looks.js";
import { messageOf, type Log } from "./log.js";
import { ProgressPump } from "./progress-pump.js";
import type { ReasonBook } from "./reason-book.js";
import type { Refusals } from "./refusals.js";
import { NoSuchSandboxError, type SandboxRecords } from "./sandbox-records.js";
import { secretsOf, withoutSecrets } from "./secrets.js";

/** A driver that was told to stop gets so long to do it before the gateway goes on without it. */
const ABORT_GRACE_MS = 1000;

export interface LaunchDeps {
  readonly records: SandboxRecords;
  readonly clock: Clock;
  readonly log: Log;
  readonly refusals: Refusals;
  readonly reasons: ReasonBook;
  readonly owner: string;
  readonly leaseMs: number;
  readonly gatewayUrl: () => string;
  readonly newId: () => string;
  readonly looks: BackendLooks;
}

/** Which work is under way; `stillWanted` tells whether a record still asks for it. */
export interface RunningLaunch {
  readonly attempt: string;
  readonly run: number;
}

export function stillWanted(record: SandboxRecord | null, launch: RunningLaunch): boolean {
  if (record === null) return false;
  const { deadline, run, desired } = record;
  const alive = deadline?.status === "active" || deadline?.status === "completed";
  return alive && deadline.attempt === launch.attempt && run === launch.run && desired === "running";
}

/**
 * One start of the driver's work: takes it by compare-and-swap, keeps the lease, passes progress on, and writes down
 * what came of it.
 */
export async function launch(
  id: string,
  driver: Driver,
  controller: AbortController,
  onStarted: (launch: RunningLaunch) => void,
  deps: LaunchDeps,
): Promise<void> {
  const { records, clock, owner, leaseMs } = deps;
  const mint = { owner, leaseMs };
  const { signal } = controller;
  const { record, result: instance } = await records.change(id, (found, now) =>
    signal.aborted ? { record: found, result: null } : mintRun(found, mint, now),
  );
  const attempt = record.deadline?.attempt;
  // One that was taken and is not made is whoever's the lease comes to.
  if (instance === null || attempt === undefined || signal.aborted) return;
  const { run } = instance;
  onStarted({ attempt, run });
  deps.log("launch", { sandbox: id, attempt: record.attemptNumber, run });
  const pump = new ProgressPump({
    commit: async (progress) => {
      const report = { attempt, run, progress };
      return (await records.change(id, (found, now) => recordProgress(found, report, now))).result;
    },
    onRefused: (why) => deps.refusals.note(id, "progress", why, clock.now()),
    onOvertaken: (why) => controller.abort(new Error(`the work no longer counts: ${why}`)),
    onError: (error) => deps.log("progress-lost", { sandbox: id, error: discreetly(error, record) }),
  });
  const keeper = new AbortController();
  void keepLease(id, { ...mint, run }, keeper.signal, controller, deps);
  try {
    const context = {
      signal: controller.signal,
      report: checkedReport(record, (progress) => pump.push(progress), deps),
    };
    const request = requestFor(record, instance, attempt, deps);
    const handle = await settleOrAbandon(
      driver.launch(request, context),
      driver,
      request,
      controller.signal,
      deps,
    );
    await pump.drained();
    if (!(await countsAsLaunched(id, { run, handle }, deps))) await undo(request, driver, deps);
  } catch (error) {
    if (!controller.signal.aborted) await writeFailure(record, instance, error, controller.signal, deps);
  } finally {
    keeper.abort();
  }
}

/** Kinds of malformed reports that are told of one launch: a driver that makes fields up is told so often and no more. */
const MOST_KINDS = 20;

/** A malformed report is the driver's mistake and harms nobody else: it is said, each kind of it once, and left out. */
function checkedReport(
  record: SandboxRecord,
  take: LaunchContext["report"],
  deps: LaunchDeps,
): LaunchContext["report"] {
  const said = new Set<string>();
  return (progress) => {
    try {
      take(checkProgress(progress));
    } catch (error) {
      const { id } = record;
      deps.refusals.note(id, "progress", "malformed", deps.clock.now());
      const kind = error instanceof InvalidInputError ? error.field : "";
      if (said.has(kind) || said.size >= MOST_KINDS) return;
      said.add(kind);
      deps.log("progress-malformed", { sandbox: id, error: discreetly(error, record) });
    }
  };
}

/** What went wrong, without what the sandbox has for itself. */
function discreetly(error: unknown, record: SandboxRecord): string {
  const secrets = secretsOf(record);
  const hide = (text: string): string => withoutSecrets(text, secrets);
  return error instanceof InvalidInputError ? error.discreetly(hide) : hide(messageOf(error));
}

function requestFor(
  record: SandboxRecord,
  instance: Instance,
  token: string,
  deps: LaunchDeps,
): LaunchRequest {
  return {
    sandbox: { id: record.id, name: record.name },
    instance: { id: instance.id, attemptNumber: record.attemptNumber, run: instance.run },
    image: record.spec.image,
    command: record.spec.command,
    options: record.spec.driverOptions,
    isolationBackend: record.isolationBackend,
    access: { url: deps.gatewayUrl(), token, budgetMs: bootstrapBudgetMs(record.deadline) },
  };
}

/**
 * What a supervisor may take before it has heard from the gateway: what the attempt may take at most. Its first answer
 * says how much of that is left.
 */
function bootstrapBudgetMs(deadline: DeadlineState | null): number | undefined {
  return deadline?.plan.ceilingMs ?? undefined;
}

/** Waits for the driver, but not for ever for one that was told to stop and does not. */
async function settleOrAbandon(
  work: Promise<Json>,
  driver: Driver,
  request: LaunchRequest,
  signal: AbortSignal,
  deps: LaunchDeps,
): Promise<Json> {
  let abandoned = false;
  void work.then(
    () => (abandoned ? undo(request, driver, deps) : undefined),
    () => undefined,
  );
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener(
      "abort",
      () => {
        void sleep(deps.clock, ABORT_GRACE_MS).then(() => {
          abandoned = true;
          reject(signal.reason as Error);
        });
      },
      { once: true },
    );
  });
  return Promise.race([work, aborted]);
}

/** Whether what was started is the run that the record waits for. Nothing waits where there is no record any more. */
async function countsAsLaunched(
  id: string,
  launched: Parameters<typeof recordLaunched>[1],
  { records }: LaunchDeps,
): Promise<boolean> {
  try {
    return (await records.change(id, (found, now) => recordLaunched(found, launched, now))).result;
  } catch (error) {
    if (error instanceof NoSuchSandboxError) return false;
    throw error;
  }
}

/**
 * Ends what a start has brought up that does not count: its gateway had given it up, or was held up while another one
 * ended the attempt, and has looked for what runs before there was anything.
 */
async function undo({ sandbox, instance }: LaunchRequest, driver: Driver, deps: LaunchDeps): Promise<void> {
  const { attemptNumber, run } = instance;
  const context = { signal: new AbortController().signal, upTo: { attemptNumber, run } };
  try {
    const found = await deps.records.read(sandbox.id);
    if (found === null) await driver.remove(sandbox, context);
    else if (mayCleanUp(found.record, run)) await driver.cleanUp(sandbox, context);
  } catch (error) {
    deps.log("abandoned-launch", { sandbox: sandbox.id, error: messageOf(error) });
  }
}

/**
 * Not where a newer start has seen to this one itself: a cleanup of the whole sandbox would end that one. Nor where a stop
 * is under way, which leaves a workload its grace and is over when the backend shows it.
 */
function mayCleanUp({ instance, phase }: SandboxRecord, run: number): boolean {
  return phase !== "Stopping" && (instance === null || instance.run === run);
}

async function keepLease(
  id: string,
  mint: Parameters<typeof renewLease>[1],
  signal: AbortSignal,
  controller: AbortController,
  deps: LaunchDeps,
): Promise<void> {
  const slept = (): Promise<boolean> =>
    sleep(deps.clock, Math.floor(mint.leaseMs / 3), signal).then(
      () => true,
      () => false,
    );
  while (await slept()) {
    try {
      const { result } = await deps.records.change(id, (found, now) => renewLease(found, mint, now));
      if (!result) controller.abort(new Error("the work was taken over"));
    } catch (error) {
      if (error instanceof NoSuchSandboxError) controller.abort(error);
      // A store that is away gives the work to nobody else either: the next time tells whose it is.
      else deps.log("lease-not-kept", { sandbox: id, error: messageOf(error) });
    }
  }
}

/** A driver's own word in the form that a condition takes; what is none at all is one for every failure. */
function reasonOf({ reason }: { readonly reason: unknown }, record: SandboxRecord, deps: LaunchDeps): string {
  if (typeof reason !== "string") return "LocalDriverFailed";
  return deps.reasons.knows(reason) ? reason : sanitizeReason(withoutSecrets(reason, secretsOf(record)));
}

/** A call that failed may have taken effect all the same: what the backend shows decides. */
async function writeFailure(
  record: SandboxRecord,
  { id: instanceId, run }: Instance,
  error: unknown,
  signal: AbortSignal,
  deps: LaunchDeps,
): Promise<void> {
  const { id } = record;
  const { records, log } = deps;
  const permanent = error instanceof PermanentDriverError;
  const reason = permanent ? reasonOf(error, record, deps) : "LocalDriverFailed";
  const message = discreetly(error, record);
  if (permanent) deps.reasons.failed(record.spec.driver, reason);
  log("launch-failed", { sandbox: id, run, permanent, error: message });
  const seen = permanent ? null : await deps.looks.look(record, signal);
  const runs = seen?.running === true && !seen.stale && seen.instanceId === instanceId;
  await records.change(id, (found, now) =>
    runs
      ? recordLaunched(found, { run, handle: null }, now)
      : recordLaunchFailure(found, { run, permanent, reason, message }, now),
  );
}
