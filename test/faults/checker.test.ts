import { definePlan } from "slipway";
import { describe, expect, it } from "vitest";
import { beginAttempt, newRecord } from "../../examples/gateway-core/src/decide/attempt.js";
import { claimCleanup, finishCleanup } from "../../examples/gateway-core/src/decide/cleanup.js";
import { observeTime, type Rule } from "../../examples/gateway-core/src/decide/decision.js";
import { mintRun, recordLaunched } from "../../examples/gateway-core/src/decide/driver-report.js";
import { requestDelete, updateConfiguration } from "../../examples/gateway-core/src/decide/operations.js";
import { applyReport } from "../../examples/gateway-core/src/decide/supervisor-report.js";
import type { SandboxRecord } from "../../examples/gateway-core/src/record/record.js";
import { checkHistory } from "./checker/check-history.js";
import type { Answer, Delivery, SandboxHistory, Version } from "./checker/history.js";

const T0 = 1_800_000_000_000;
const LEASE_MS = 2000;
const AROUND = { observation: null, backendMatches: null, policy: {} };
const plan = definePlan({
  phases: [
    { name: "preparation", budgetMs: 10_000, timeoutReason: "ImagePreparationTimedOut" },
    { name: "admission", budgetMs: 5000, renewOn: "change", timeoutReason: "ProvisioningTimedOut" },
  ],
  cleanupBudgetMs: 3000,
});

/** A history that the gateway's own rules write, one decision after the other. */
class Story {
  readonly versions: Version[] = [];
  now = T0;

  constructor() {
    const spec = {
      driver: "process",
      image: { name: "box:1" },
      command: ["sleep"],
      driverOptions: {},
      budgets: {},
    };
    const sandbox = { id: "sb-1", name: "box", spec, policy: { version: 1 }, isolationBackend: null };
    this.write("insert", newRecord(sandbox, { plan, token: "t1" }, this.now));
  }

  get record(): SandboxRecord {
    const record = this.versions.at(-1)?.record ?? null;
    if (record === null) throw new Error("it was removed");
    return record;
  }

  write(op: Version["op"], record: SandboxRecord | null): this {
    const last = this.versions.at(-1)?.version ?? 0;
    this.versions.push({ op, record, at: this.now, version: op === "delete" ? last : last + 1 });
    return this;
  }

  /** Decides and writes, as the gateway does: nothing is written where nothing was decided. */
  after(ms: number, rule: Rule<unknown>): this {
    this.now += ms;
    const { record } = rule(this.record, this.now);
    return record === this.record ? this : this.write("update", record);
  }

  report(ms: number, report: Parameters<typeof applyReport>[2], run = this.record.run): this {
    return this.after(ms, (record, now) => applyReport(record, run, report, now));
  }

  history(more: Partial<SandboxHistory> = {}): SandboxHistory {
    const last = this.versions.at(-1);
    const version = last?.op === "delete" ? null : (last?.version ?? null);
    const end = { version, left: [], restless: null };
    return { id: "sb-1", versions: this.versions, answers: [], deliveries: [], starts: [], end, ...more };
  }
}

function launched(owner = "one"): Story {
  return new Story()
    .after(10, (record, now) => mintRun(record, { owner, leaseMs: LEASE_MS }, now))
    .after(500, (record, now) => recordLaunched(record, { run: 1, handle: null }, now));
}

function ready(): Story {
  return launched()
    .report(100, { kind: "accepted", generation: 1 })
    .report(100, { kind: "ready", generation: 1 });
}

function expired(): Story {
  return launched()
    .after(9500, (record, now) => ({ record: observeTime(record, now), result: null }))
    .after(10, (record, now) => claimCleanup(record, "one", now))
    .after(100, (record, now) =>
      finishCleanup(record, { attempt: "t1", claim: 1, until: now, ok: true }, now),
    );
}

const rules = (history: SandboxHistory): string[] => [
  ...new Set(checkHistory(history).map(({ rule }) => rule)),
];

/** The same history with one version replaced by what a fault would have made of it. */
function forged(
  story: Story,
  index: number,
  forge: (record: SandboxRecord) => SandboxRecord,
  at?: number,
): SandboxHistory {
  const versions = story.versions.map((version, place) => {
    if (place !== (index + story.versions.length) % story.versions.length || version.record === null)
      return version;
    return { ...version, record: forge(version.record), at: at ?? version.at };
  });
  return story.history({ versions });
}

const current = { attempt: "t1", run: 1, what: "report ready", status: 200, activate: false };
const answer = (story: Story, fields: Partial<Answer["view"]> = {}): Answer => {
  const { record } = story;
  const version = story.versions.length;
  const { phase, desired, attemptNumber: attempt, run, startPending, configuration } = record;
  const view = { version, phase, desired, attempt, run, startPending, generation: configuration.generation };
  return {
    operation: "update",
    sentAt: story.now - 5,
    answeredAt: story.now + 5,
    view: { ...view, ...fields },
  };
};

describe("the checker", () => {
  it("finds nothing in what the gateway's own rules write", () => {
    const again = expired().after(100, (record, now) => {
      const { record: next } = beginAttempt(record, { plan, token: "t2" }, now);
      return { record: next, result: null };
    });
    const removed = ready()
      .after(50, (record, now) => updateConfiguration(record, { policy: { version: 1, env: {} } }, now))
      .after(50, (record, now) => requestDelete(record, AROUND, now))
      .write("delete", null);
    const start = { attempt: 1, run: 1, at: T0 + 720 };
    const delivery: Delivery = { ...current, sentAt: T0 + 700, answeredAt: T0 + 720 };
    const full = ready();
    expect(
      checkHistory(full.history({ starts: [start], deliveries: [delivery], answers: [answer(full)] })),
    ).toEqual([]);
    expect(checkHistory(again.history())).toEqual([]);
    expect(checkHistory(removed.history())).toEqual([]);
  });

  it("sees a record that was lost, in the middle, at the end, or removed unasked", () => {
    const story = ready();
    const [first, , ...rest] = story.versions;
    expect(rules(story.history({ versions: first === undefined ? [] : [first, ...rest] }))).toContain(
      "record-lost",
    );
    const end = { version: null, left: [], restless: null };
    expect(rules(story.history({ end }))).toContain("record-lost");
    expect(rules(story.write("delete", null).history())).toContain("record-lost");
    expect(rules(new Story().history({ versions: [], answers: [answer(new Story())], end }))).toContain(
      "record-lost",
    );
  });

  it("sees a write over one that it did not know: no compare-and-swap", () => {
    const story = ready().after(10, (record, now) =>
      updateConfiguration(record, { policy: { version: 1, env: { A: "1" } } }, now),
    );
    const old = story.versions.at(-3)?.record;
    expect(rules(story.write("update", old ?? null).history())).toContain("write-lost");
  });

  it("sees a window that grew without a change", () => {
    const longer = forged(launched(), -1, (record) => ({
      ...record,
      deadline: record.deadline && {
        ...record.deadline,
        version: record.deadline.version + 1,
        windowEndsAt: (record.deadline.windowEndsAt ?? 0) + 1,
      },
    }));
    expect(rules(longer)).toEqual(["deadline-extended"]);
  });

  it("sees what happened after a deadline that should have ended it: expiry not looked at first", () => {
    // By its own instants it was in time, but it was decided on a version that was written after the deadline.
    const late = launched().report(100, { kind: "accepted", generation: 1 });
    late.now += 6000;
    const stale = late.versions.at(-1)?.record ?? null;
    late.write("update", stale && { ...stale, message: "somebody wrote" });
    const { record } = applyReport(late.record, 1, { kind: "ready", generation: 1 }, T0 + 1000);
    late.now += 10;
    expect(rules(late.write("update", record).history())).toContain("expiry-overruled");
    // And with its own instant, where the state says itself when it was completed.
    const told = forged(ready(), -1, (each) => ({
      ...each,
      deadline: each.deadline && { ...each.deadline, completedAt: T0 + 60_000, observedAt: T0 + 60_000 },
    }));
    expect(rules(told)).toContain("expiry-overruled");
  });

  it("sees an expiry before its time", () => {
    const story = expired();
    const index = story.versions.findIndex(({ record }) => record?.deadline?.status === "expired");
    expect(rules(forged(story, index, (record) => record, T0 + 5000))).toContain("expired-early");
  });

  it("sees an attempt that expired and came back", () => {
    const story = expired();
    const before = story.versions.find(({ record }) => record?.deadline?.status === "active");
    expect(rules(story.write("update", before?.record ?? null).history())).toContain("attempt-revived");
  });

  it("sees a cleanup that was never done, was done by nobody, or left something", () => {
    const story = expired();
    const owed = story.versions.slice(0, -1);
    const end = { version: owed.length, left: [], restless: null };
    expect(rules(story.history({ versions: owed, end }))).toEqual(["not-cleaned-up"]);
    const left = { version: story.versions.length, left: ["staging/1.1"], restless: null };
    expect(rules(story.history({ end: left }))).toEqual(["not-cleaned-up"]);
  });

  it("sees a workload that began twice, in one run or in one attempt, or was never admitted", () => {
    const one = { attempt: 1, run: 1, at: T0 + 720 };
    expect(rules(ready().history({ starts: [one] }))).toEqual([]);
    expect(rules(ready().history({ starts: [one, one] }))).toEqual(["started-twice"]);
    expect(rules(ready().history({ starts: [one, { ...one, run: 2 }] }))).toEqual(["started-twice"]);
    expect(rules(launched().history({ starts: [one] }))).toEqual(["started-twice"]);
  });

  it("sees a workload that began after its attempt had expired, after the next run was minted, or after the removal", () => {
    const isLate = (story: Story, at: number): boolean =>
      rules(story.history({ starts: [{ attempt: 1, run: 1, at }] })).includes("started-late");
    const end = expired().versions.find(({ record }) => record?.deadline?.status === "expired")?.at ?? 0;
    expect(isLate(expired(), end + 500)).toBe(false);
    expect(isLate(expired(), end + 5000)).toBe(true);
    const mint: Rule<unknown> = (record, now) =>
      mintRun({ ...record, lease: null }, { owner: "one", leaseMs: LEASE_MS }, now);
    const again = new Story().after(10, mint).after(500, mint);
    expect(isLate(again, again.now + 500)).toBe(false);
    expect(isLate(again, again.now + 5000)).toBe(true);
    const removed = ready()
      .after(50, (record, now) => requestDelete(record, AROUND, now))
      .write("delete", null);
    expect(isLate(removed, removed.now + 500)).toBe(false);
    expect(isLate(removed, removed.now + 5000)).toBe(true);
  });

  it("sees work that was taken while somebody else had the lease: no lease", () => {
    const story = new Story().after(10, (record, now) =>
      mintRun(record, { owner: "one", leaseMs: 2000 }, now),
    );
    const stolen = story.after(500, (record, now) =>
      mintRun({ ...record, lease: null }, { owner: "two", leaseMs: 2000 }, now),
    );
    expect(rules(stolen.history())).toEqual(["lease-broken"]);
  });

  it("sees a report of another attempt or run that was taken: no fencing token", () => {
    const at = { sentAt: T0 + 700, answeredAt: T0 + 720 };
    const taken = (fields: Partial<Delivery>): string[] =>
      rules(ready().history({ deliveries: [{ ...current, ...at, ...fields }] }));
    expect(taken({})).toEqual([]);
    expect(taken({ attempt: "t0" })).toEqual(["stale-credentials-taken"]);
    expect(taken({ run: 2 })).toEqual(["stale-credentials-taken"]);
    expect(taken({ run: 2, status: 409 })).toEqual([]);
  });

  it("sees an answer that nobody committed, one that differs, one that is older, and a record that was not found", () => {
    const story = ready();
    const check = (...answers: Answer[]): string[] => rules(story.history({ answers }));
    expect(check(answer(story, { version: 99 }))).toEqual(["answer-not-visible"]);
    expect(check(answer(story, { generation: 2 }))).toEqual(["answer-not-visible"]);
    const first = story.versions[0]?.record;
    const older = answer(story, { version: 1, phase: first?.phase ?? "", run: 0 });
    const later = { ...older, sentAt: story.now + 10, answeredAt: story.now + 20 };
    expect(check(answer(story), older)).toEqual([]);
    expect(check(answer(story), later)).toEqual(["answer-not-visible"]);
    const gone: Answer = { operation: "read", sentAt: story.now, answeredAt: story.now + 5, view: null };
    expect(check(gone)).toEqual(["answer-not-visible"]);
    expect(check({ ...answer(story), operation: "delete" })).toEqual(["answer-not-visible"]);
  });

  it("sees what never came to rest", () => {
    const end = { version: 3, left: [], restless: "Provisioning" };
    expect(rules(launched().history({ end }))).toEqual(["not-operable"]);
  });
});
