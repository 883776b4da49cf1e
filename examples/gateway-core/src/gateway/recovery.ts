import { rebaseClock } from "slipway";
import { rebaseTracker } from "slipway/progress";
import { observeTime } from "../decide/decision.js";
import type { SandboxRecord } from "../record/record.js";
import { messageOf, type Log } from "./log.js";
import type { SandboxRecords, VersionedRecord } from "./sandbox-records.js";

const PAGE = 200;

/**
 * Goes through all records once, before any request is served.
 *
 * A clock that was set back while no gateway ran is made up for, so that nobody gains time by it; what expired in the
 * meantime is written as expired; then every sandbox is told of, and its record says what is to be done. Where several
 * gateways go by the store's time nothing is made up for: another one may have written a moment ago, by an answer of
 * the store that was exact to other milliseconds.
 */
export async function recover(
  records: SandboxRecords,
  found: (found: VersionedRecord) => void,
  log: Log,
  ownClock: boolean,
): Promise<void> {
  let seen = 0;
  for (let after: string | undefined; ; ) {
    const page = await records.list({ after, limit: PAGE });
    for (const item of page.items) {
      const id = "record" in item ? item.record.id : item.id;
      if ("error" in item) {
        log("record-unreadable", { sandbox: id, error: messageOf(item.error) });
        continue;
      }
      seen += 1;
      const onOurs = (stored: SandboxRecord, now: number) => {
        const record = ownClock ? onThisClock(stored, now) : stored;
        return { record: observeTime(record, now), result: null };
      };
      found(await records.change(id, onOurs, item));
    }
    if (page.next === null) break;
    after = page.next;
  }
  log("recovered", { sandboxes: seen });
}

/** Moves every instant that decides something by as much as the deadline's were moved. */
function onThisClock(record: SandboxRecord, now: number): SandboxRecord {
  const { deadline: before, lease } = record;
  if (before === null) return record;
  const deadline = rebaseClock(before, now);
  if (deadline === before) return record;
  const by = deadline.observedAt - before.observedAt;
  return {
    ...record,
    deadline,
    steps: rebaseTracker(record.steps, now),
    lease: lease && { ...lease, until: lease.until + by },
    restartAt: record.restartAt && record.restartAt + by,
    launchNotBefore: record.launchNotBefore + by,
    cleanupNotBefore: record.cleanupNotBefore + by,
  };
}
