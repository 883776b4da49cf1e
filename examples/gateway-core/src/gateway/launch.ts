import type { Clock } from "slipway";
import {
  mintRun,
  recordLaunched,
  recordLaunchFailure,
  recordProgress,
  renewLease,
} from "../decide/driver-report.js";
import { PermanentDriverError, type Driver, type LaunchRequest } from "../driver/driver.js";
import type { Json } from "../record/json.js";
import type { Instance, SandboxRecord } from "../record/record.js";
import { sleep } from "../sleep.js";
import { messageOf, type Log } from "./log.js";
import { ProgressPump } from "./progress-pump.js";
import type { Refusals } from "./refusals.js";
import type { SandboxRecords } from "./sandbox-records.js";

/** A driver that was told to stop gets so long to do it before the gateway goes on without it. */
const ABORT_GRACE_MS = 1000;

export interface LaunchDeps {
  readonly records: SandboxRecords;
  readonly clock: Clock;
  readonly log: Log;
  readonly refusals: Refusals;
  readonly owner: string;
  readonly leaseMs: number;
  readonly gatewayUrl: () => string;
  readonly newId: () => string;
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
 * what came of it. Returns the run whose supervisor was started, or `null`.
 */
export async function launch(
  id: string,
  driver: Driver,
  controller: AbortController,
  onStarted: (launch: RunningLaunch) => void,
  deps: LaunchDeps,
): Promise<{ readonly instanceId: string; readonly run: number; readonly handle: Json } | null> {
  const { records, clock, owner, leaseMs } = deps;
  const mint = { owner, leaseMs, instanceId: deps.newId() };
  const { record, result: instance } = await records.change(id, (found, now) => mintRun(found, mint, now));
  const attempt = record.deadline?.attempt;
  if (instance === null || attempt === undefined) return null;
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
    onError: (error) => deps.log("progress-lost", { sandbox: id, error: messageOf(error) }),
  });
  const keeper = new AbortController();
  void keepLease(id, { ...mint, run }, keeper.signal, controller, deps);
  try {
    const context = {
      signal: controller.signal,
      report: (progress: Parameters<ProgressPump["push"]>[0]) => pump.push(progress),
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
    const { result } = await records.change(id, (found, now) => recordLaunched(found, { run, handle }, now));
    return result ? { instanceId: instance.id, run, handle } : null;
  } catch (error) {
    if (controller.signal.aborted) return null;
    await writeFailure(id, run, error, deps);
    return null;
  } finally {
    keeper.abort();
  }
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
    access: { url: deps.gatewayUrl(), token },
  };
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
  void work
    .then(
      async () => {
        if (!abandoned) return;
        // It started something after all, though nobody was waiting any more. A newer start has seen to that itself,
        // and a cleanup of the whole sandbox would end that one.
        const found = await deps.records.read(request.sandbox.id);
        const { attemptNumber, run } = request.instance;
        if (found?.record.attemptNumber !== attemptNumber || found.record.run !== run) return;
        await driver.cleanUp(request.sandbox, { signal: new AbortController().signal });
      },
      () => undefined,
    )
    .catch((error: unknown) =>
      deps.log("abandoned-launch", { sandbox: request.sandbox.id, error: messageOf(error) }),
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

async function keepLease(
  id: string,
  mint: Parameters<typeof renewLease>[1],
  signal: AbortSignal,
  controller: AbortController,
  deps: LaunchDeps,
): Promise<void> {
  try {
    for (;;) {
      await sleep(deps.clock, Math.floor(mint.leaseMs / 3), signal);
      const { result } = await deps.records.change(id, (found, now) => renewLease(found, mint, now));
      if (!result) controller.abort(new Error("the work was taken over"));
    }
  } catch (error) {
    if (!signal.aborted) deps.log("lease-lost", { sandbox: id, error: messageOf(error) });
  }
}

async function writeFailure(id: string, run: number, error: unknown, deps: LaunchDeps): Promise<void> {
  const permanent = error instanceof PermanentDriverError;
  const reason = permanent ? error.reason : "LocalDriverFailed";
  const message = messageOf(error);
  deps.log("launch-failed", { sandbox: id, run, permanent, error: message });
  const failure = { run, permanent, reason, message };
  await deps.records.change(id, (found, now) => recordLaunchFailure(found, failure, now));
}
