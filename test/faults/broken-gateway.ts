/**
 * A gateway with one protection switched off, named by SLIPWAY_BROKEN: what the checker has to find. Only the bench
 * runs it; the gateway itself knows nothing of it.
 */
import { readDeadline } from "slipway";
import { runGatewayCli } from "../../examples/gateway-core/src/cli/run-gateway-cli.js";
import type { Rule } from "../../examples/gateway-core/src/decide/decision.js";
import { processDrivers } from "../../examples/gateway-core/src/driver/process-drivers.js";
import { Gateway } from "../../examples/gateway-core/src/gateway/gateway.js";
import { SandboxRecords } from "../../examples/gateway-core/src/gateway/sandbox-records.js";
import type { SandboxRecord } from "../../examples/gateway-core/src/record/record.js";
import { PostgresStore } from "../../examples/gateway-core/src/store/postgres/postgres-store.js";

/** How late a timer is on which alone an expiry is noticed. */
const TIMER_LATE_MS = 1500;

const BREAKS = {
  /** The store writes whatever the version. */
  "compare-and-swap"(): void {
    const { compareAndSwap } = PostgresStore.prototype;
    PostgresStore.prototype.compareAndSwap = async function (id, _version, change) {
      for (;;) {
        const stored = await this.get(id);
        if (stored === null) return false;
        if (await compareAndSwap.call(this, id, stored.version, change)) return true;
      }
    };
  },
  /** Nobody sees the lease of anybody else. */
  lease(): void {
    seenAs((record) => ({ ...record, lease: null }));
  },
  /** Whoever calls is taken for the supervisor of the current attempt and run. */
  "fencing-token"(): void {
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
  },
  /** An event is not asked whether its deadline has passed: a timer ends the attempt, when it gets to it. */
  "expiry-first"(): void {
    const { change } = SandboxRecords.prototype;
    SandboxRecords.prototype.change = function <Result>(id: string, rule: Rule<Result>) {
      return change.call(this, id, (record: SandboxRecord, now: number) =>
        rule(record, timerTime(record, now)),
      ) as ReturnType<typeof change<Result>>;
    };
  },
} satisfies Record<string, () => void>;

function seenAs(view: (record: SandboxRecord) => SandboxRecord): void {
  const { read, change } = SandboxRecords.prototype;
  SandboxRecords.prototype.read = async function (id) {
    const found = await read.call(this, id);
    return found === null ? null : { ...found, record: view(found.record) };
  };
  SandboxRecords.prototype.change = function <Result>(id: string, rule: Rule<Result>) {
    return change.call(this, id, (record: SandboxRecord, now: number) =>
      rule(view(record), now),
    ) as ReturnType<typeof change<Result>>;
  };
}

function timerTime({ deadline }: SandboxRecord, now: number): number {
  if (deadline?.status !== "active") return now;
  const { deadlineAt } = readDeadline(deadline, deadline.observedAt);
  if (deadlineAt === null || now >= deadlineAt + TIMER_LATE_MS) return now;
  return Math.min(now, deadlineAt - 1);
}

const broken = process.env["SLIPWAY_BROKEN"] ?? "";
const names = Object.keys(BREAKS);
if (!names.includes(broken))
  throw new Error(`SLIPWAY_BROKEN must be one of ${names.join(", ")}, not "${broken}"`);
BREAKS[broken as keyof typeof BREAKS]();
await runGatewayCli({ name: "broken-gateway", drivers: processDrivers });
