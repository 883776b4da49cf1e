import type { Clock } from "slipway";
import { planEnd, withoutEnd } from "../decide/recovery-plan.js";
import type { Driver } from "../driver/driver.js";
import type { SandboxRecord } from "../record/record.js";
import { limitedCall } from "./limited-call.js";
import { messageOf, type Log } from "./log.js";
import { managesLifecycle, policyOf, type PolicyOptions } from "./policy.js";
import type { SandboxRecords } from "./sandbox-records.js";

const PAGE = 200;
const AT_ONCE = 16;
const STOP_LIMIT_MS = 30_000;

export interface ShutdownOptions {
  readonly records: SandboxRecords;
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly policy: PolicyOptions;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Stops what runs where the gateway manages the lifecycle, several at once. Every record keeps its phase and the intent
 * to run, and says that its run was stopped: that is what the next start finds. A stop that fails is told and holds up no other one.
 */
export async function shutdownSweep(options: ShutdownOptions): Promise<void> {
  const { records, log } = options;
  let stopped = 0;
  let failed = 0;
  for (let after: string | undefined; ; ) {
    const page = await records.list({ after, limit: PAGE });
    const due = page.items.flatMap((item) => ("record" in item ? [item.record] : []));
    for (let index = 0; index < due.length; index += AT_ONCE) {
      const batch = due.slice(index, index + AT_ONCE);
      for (const ended of await Promise.all(batch.map((record) => stopOne(record, options)))) {
        if (ended === "stopped") stopped += 1;
        if (ended === "failed") failed += 1;
      }
    }
    if (page.next === null) break;
    after = page.next;
  }
  if (stopped + failed > 0) log("shutdown-sweep", { stopped, failed });
}

async function stopOne(
  listed: SandboxRecord,
  { records, drivers, policy, clock, log }: ShutdownOptions,
): Promise<"stopped" | "failed" | "left"> {
  const driver = drivers.get(listed.spec.driver);
  if (driver === undefined) return "left";
  const context = {
    managesLifecycle: managesLifecycle(driver, policy),
    observation: null,
    policy: policyOf(driver, policy),
  };
  const { id, name, attemptNumber, run } = listed;
  // Another gateway may have begun a newer start, which is not this one's to end.
  const upTo = { attemptNumber, run };
  const isMeant = (found: SandboxRecord): boolean =>
    found.attemptNumber === attemptNumber && found.run === run;
  if (planEnd(listed, context, clock.now()).result === null) return "left";
  try {
    const { record: marked, result: call } = await records.change(id, (found, now) =>
      isMeant(found) ? planEnd(found, context, now) : { record: found, result: null },
    );
    if (call === null) return "left";
    const limits = { clock, until: clock.now() + STOP_LIMIT_MS, signal: new AbortController().signal };
    const failure = await limitedCall(limits, (signal) => driver.stop({ id, name }, { signal, upTo }));
    if (failure === null) return "stopped";
    log("shutdown-stop-failed", { sandbox: id, error: messageOf(failure) });
    // What runs on may end by itself, and that is a result.
    const { shutdownStopAt } = marked;
    await records.change(id, (found) => ({
      record: isMeant(found) && found.shutdownStopAt === shutdownStopAt ? withoutEnd(found) : found,
      result: null,
    }));
  } catch (error) {
    // What cannot be said to be stopped is not stopped: it runs on, and the next start finds it.
    log("shutdown-stop-failed", { sandbox: id, error: messageOf(error) });
  }
  return "failed";
}
