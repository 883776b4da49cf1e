import { getCondition, type Observation } from "slipway";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newRecord } from "../src/decide/attempt.js";
import { mintRun, recordLaunched } from "../src/decide/driver-report.js";
import type { RunNews } from "../src/decide/silence.js";
import { withSilence } from "../src/decide/silence.js";
import { applyReport } from "../src/decide/supervisor-report.js";
import { DEFAULT_BUDGETS, planFor } from "../src/gateway/budgets.js";
import { SilencePace } from "../src/gateway/silence-pace.js";
import type { SandboxRecord } from "../src/record/record.js";
import { Bench, BUDGETS } from "./bench.js";

const spec = { driver: "fake", image: { name: "i" }, command: ["c"], driverOptions: {}, budgets: {} };

/** A record whose supervisor was started at 0. */
function launched(): SandboxRecord {
  const sandbox = { id: "sb", name: "box", spec, policy: { version: 1 }, isolationBackend: null };
  const fresh = newRecord(sandbox, { plan: planFor(DEFAULT_BUDGETS, {}), token: "t" }, 0);
  const { record, result } = mintRun(fresh, { owner: "one", leaseMs: 1000 }, 0);
  return recordLaunched(record, { run: result!.run, handle: null }, 0).record;
}

function news(record: SandboxRecord, seen: Partial<Observation>): RunNews {
  const observation = { running: true, stale: false, message: null, ...seen } as Observation;
  return { seen: { observation, instanceId: record.instance!.id }, session: null };
}

const said = (record: SandboxRecord): string | undefined =>
  getCondition(record.conditions, "Bootstrapped")?.message;

describe("the silence of a supervisor, in the store", () => {
  let bench: Bench;

  beforeEach(async () => {
    bench = await Bench.open();
  });

  afterEach(() => bench.close());

  it("is written once a minute at most, however often its backend words it anew", async () => {
    const gateway = await bench.gateway("one", {
      sweepEveryMs: 5000,
      budgets: { ...BUDGETS, stallMs: 600_000 },
    });
    const id = await bench.create(gateway);
    bench.driver.launches.at(-1)!.succeed();
    await bench.settle();
    const { observe } = bench.driver;
    let looks = 0;
    bench.driver.observe = async (...of) => {
      const found = await observe.apply(bench.driver, of);
      return { ...found, message: `0/${(looks += 1)} nodes` };
    };
    const told = new Map<string, number>();
    gateway.hub.subscribe(({ record }) => {
      const text = record === null ? undefined : said(record);
      if (text?.includes("nodes") === true && !told.has(text)) told.set(text, bench.clock.now());
    });
    for (let passed = 0; passed < 150_000; passed += 5000) await bench.pass(5000);
    expect((await bench.read(gateway, id)).phase).toBe("Provisioning");
    expect(looks).toBeGreaterThan(20);
    const at = [...told.values()];
    expect(at.length).toBe(3);
    for (const [index, instant] of at.slice(1).entries())
      expect(instant - at[index]!).toBeGreaterThanOrEqual(60_000);
  });
});

describe("the pace of words about silent runs", () => {
  it("is each run's own, and remembers nothing that no longer counts", () => {
    const pace = new SilencePace();
    const record = launched();
    const other = { ...record, instance: { ...record.instance!, id: "sb-r2" } };
    pace.note(record, 0);
    expect([pace.allows(record, 59_999), pace.allows(other, 0), pace.allows(record, 60_000)]).toEqual([
      false,
      true,
      true,
    ]);
    pace.note(other, 60_000);
    expect(pace.size).toBe(1);
  });
});

describe("the silence of a supervisor", () => {
  it.each([
    [{ message: "Pod box runs on node-1." }, "Pod box runs on node-1"],
    [{ message: "" }, "The backend runs it"],
    [{ running: null }, "The backend cannot tell whether it runs"],
    [{ running: false }, "The backend does not run it"],
  ])("is told with what is known of its run: %o", (seen, words) => {
    const record = launched();
    const told = withSilence(record, news(record, seen), 10_000);
    expect(said(told)).toBe(
      `${words}; its supervisor was started at 1970-01-01T00:00:00.000Z and has not reached a gateway`,
    );
    // Told once: nothing is written while nothing changes.
    expect(withSilence(told, news(record, seen), 900_000)).toBe(told);
  });

  it("is none before it has lasted, while it calls, of another run, or where no run was started", () => {
    const record = launched();
    const known = news(record, {});
    expect(withSilence(record, known, 9999)).toBe(record);
    const session = { connected: true, instanceId: record.instance!.id };
    expect(withSilence(record, { ...known, session }, 60_000)).toBe(record);
    const foreign = { ...known, seen: { ...known.seen!, instanceId: "other" } };
    for (const unseen of [foreign, { ...known, seen: null }, news(record, { stale: true })])
      expect(withSilence(record, unseen, 60_000)).toBe(record);
    const waiting = { ...record, instance: { ...record.instance!, launchedAt: null } };
    expect(withSilence(waiting, known, 60_000)).toBe(waiting);
    const stopped = { ...record, desired: "stopped" } as const;
    expect(withSilence(stopped, known, 60_000)).toBe(stopped);
  });

  it("ends with the first word, and never takes back what a supervisor said", () => {
    const record = launched();
    const silent = withSilence(record, news(record, {}), 20_000);
    const accepted = applyReport(silent, record.run, { kind: "accepted", generation: 1 }, 21_000).record;
    expect(getCondition(accepted.conditions, "Bootstrapped")).toMatchObject({
      status: "False",
      reason: "BootstrapInProgress",
    });
    const report = {
      kind: "bootstrap",
      succeeded: false,
      reason: "BootstrapInProgress",
      message: "m",
    } as const;
    const spoken = applyReport(silent, record.run, report, 21_000).record;
    expect(said(spoken)).toBe("m");
    expect(withSilence(spoken, news(record, {}), 90_000)).toBe(spoken);
  });
});
