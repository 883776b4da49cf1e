import { readDeadline } from "slipway";
import type { Rule } from "../../examples/gateway-core/src/decide/decision.js";
import { Gateway } from "../../examples/gateway-core/src/gateway/gateway.js";
import { SandboxRecords } from "../../examples/gateway-core/src/gateway/sandbox-records.js";
import type { SandboxRecord } from "../../examples/gateway-core/src/record/record.js";
import type { RecordStore } from "../../examples/gateway-core/src/store/record-store.js";

/** How late a timer is on which alone an expiry is noticed. */
const TIMER_LATE_MS = 1500;

export const PROTECTIONS = ["compare-and-swap", "lease", "fencing-token", "expiry-first"] as const;

export type Protection = (typeof PROTECTIONS)[number];

export function isProtection(name: string): name is Protection {
  return (PROTECTIONS as readonly string[]).includes(name);
}

/** Puts one thing in the place of another; called, it puts things right again. */
type Undo = () => void;

/**
 * Switches one protection of every gateway of this process off, by replacing a part of it: what the checker has to
 * find. The gateway itself knows nothing of it.
 *
 * @param store - What all stores of the kind in use inherit from.
 */
export function breakProtection(protection: Protection, store: RecordStore): Undo {
  switch (protection) {
    case "compare-and-swap":
      return withoutCompareAndSwap(store);
    case "lease":
      return seenAs((record) => (record.lease === null ? record : { ...record, lease: null }));
    case "fencing-token":
      return withoutFencingToken();
    case "expiry-first":
      return withoutExpiryFirst();
  }
}

/** The store writes whatever the version. */
function withoutCompareAndSwap(store: RecordStore): Undo {
  const { compareAndSwap } = store;
  store.compareAndSwap = async function (this: RecordStore, id, _version, change) {
    for (;;) {
      const stored = await this.get(id);
      if (stored === null) return false;
      if (await compareAndSwap.call(this, id, stored.version, change)) return true;
    }
  };
  return () => void (store.compareAndSwap = compareAndSwap);
}

/** Whoever calls is taken for the supervisor of the current attempt and run. */
function withoutFencingToken(): Undo {
  const { authenticate, report } = Gateway.prototype;
  const current = async (gateway: Gateway, id: string): Promise<[string, number]> => {
    const record = (await gateway.records.read(id))?.record;
    return [record?.deadline?.attempt ?? "", record?.run ?? 0];
  };
  Gateway.prototype.authenticate = async function (id) {
    return authenticate.call(this, id, ...(await current(this, id)));
  };
  Gateway.prototype.report = async function (id, _token, _run, given) {
    return report.call(this, id, ...(await current(this, id)), given);
  };
  return () => void Object.assign(Gateway.prototype, { authenticate, report });
}

/** An event is not asked whether its deadline has passed: a timer ends the attempt, when it gets to it. */
function withoutExpiryFirst(): Undo {
  return deciding((rule, record, now) => rule(record, timerTime(record, now)));
}

/** Nobody sees what a view hides. */
function seenAs(view: (record: SandboxRecord) => SandboxRecord): Undo {
  const { read } = SandboxRecords.prototype;
  SandboxRecords.prototype.read = async function (id) {
    const found = await read.call(this, id);
    return found === null ? null : { ...found, record: view(found.record) };
  };
  const undo = deciding((rule, record, now) => {
    const seen = view(record);
    const decided = rule(seen, now);
    return decided.record === seen ? { ...decided, record } : decided;
  });
  return () => {
    SandboxRecords.prototype.read = read;
    undo();
  };
}

function deciding(
  decide: <Result>(rule: Rule<Result>, record: SandboxRecord, now: number) => ReturnType<Rule<Result>>,
): Undo {
  const { change } = SandboxRecords.prototype;
  SandboxRecords.prototype.change = function <Result>(
    id: string,
    rule: Rule<Result>,
    known?: Parameters<typeof change>[2],
  ) {
    const decided: Rule<Result> = (record, now) => decide(rule, record, now);
    return change.call(this, id, decided, known) as ReturnType<typeof change<Result>>;
  };
  return () => void (SandboxRecords.prototype.change = change);
}

function timerTime({ deadline }: SandboxRecord, now: number): number {
  if (deadline?.status !== "active") return now;
  const { deadlineAt } = readDeadline(deadline, deadline.observedAt);
  if (deadlineAt === null || now >= deadlineAt + TIMER_LATE_MS) return now;
  return Math.min(now, deadlineAt - 1);
}
