import { readDeadline } from "slipway";
import { readSteps } from "slipway/progress";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import { SandboxRecords } from "../src/gateway/sandbox-records.js";
import { recover } from "../src/gateway/recovery.js";
import { EventHub } from "../src/gateway/event-hub.js";
import { observeTime } from "../src/decide/decision.js";
import type { RecordStore, StoredRecord } from "../src/store/record-store.js";
import { Bench, BUDGETS } from "./bench.js";
import { imageReport } from "./step-reports.js";

/** How far behind the recorded time of an attempt may be: a twentieth of the shorter budget, and one look. */
const OBSERVED_MS = BUDGETS.admissionMs / 20 + 2000;

let bench: Bench;
let gateway: Gateway;
let id: string;

beforeEach(async () => {
  bench = await Bench.open();
  gateway = await bench.gateway();
  id = await bench.create(gateway);
});

afterEach(() => bench.close());

async function deadlineAt(of: Gateway): Promise<number | null> {
  const { deadline } = await bench.read(of, id);
  return deadline && readDeadline(deadline, bench.clock.now()).deadlineAt;
}

describe("a gateway that starts again", () => {
  it("moves nothing where the store keeps the time, though an answer of it was a little behind another one's", async () => {
    const { deadline } = await bench.read(gateway, id);
    bench.clock.stepWall(-40);
    bench.clock.restart(0);
    const records = new SandboxRecords(bench.storeOf(gateway), bench.clock, new EventHub("replica"));
    await recover(
      records,
      () => undefined,
      () => undefined,
      false,
    );
    expect((await records.read(id))?.record.deadline).toEqual(deadline);
    await recover(
      records,
      () => undefined,
      () => undefined,
      true,
    );
    expect((await records.read(id))?.record.deadline?.startedAt).toBe((deadline?.startedAt ?? 0) - 40);
  });

  it("begins the driver's work anew under a higher run and the old deadline", async () => {
    const before = await deadlineAt(gateway);
    await bench.kill(gateway);
    bench.clock.restart(3000);
    const next = await bench.gateway();
    expect(await bench.read(next, id)).toMatchObject({ run: 2, attemptNumber: 1, phase: "Provisioning" });
    expect(await deadlineAt(next)).toBe(before);
    expect(bench.driver.launches).toHaveLength(2);
  });

  it("finds a supervisor again that was started but never written down", async () => {
    bench.driver.launches[0]!.succeed();
    await bench.kill(gateway);
    const next = await bench.gateway();
    const record = await bench.read(next, id);
    expect(record.run).toBe(1);
    expect(record.instance?.launchedAt).not.toBeNull();
    expect(bench.driver.launches).toHaveLength(1);
  });

  it("writes what expired in the meantime, cleans it up, and does not begin it again", async () => {
    await bench.kill(gateway);
    bench.clock.restart(BUDGETS.preparationMs);
    const next = await bench.gateway();
    await bench.settle();
    const record = await bench.read(next, id);
    expect(record).toMatchObject({ phase: "Error", reason: "ImagePreparationTimedOut", run: 1 });
    expect(record.deadline?.cleanup).toMatchObject({ status: "done" });
    expect(bench.driver.launches).toHaveLength(1);
  });

  it("finishes a cleanup that the one before had claimed", async () => {
    bench.driver.cleanUp = () => new Promise(() => undefined);
    await bench.pass(12_000);
    expect((await bench.read(gateway, id)).deadline?.cleanup.claim?.owner).toBe("one");
    await bench.kill(gateway);
    bench.driver.cleanUp = () => Promise.resolve();
    const next = await bench.gateway("one");
    expect((await bench.read(next, id)).deadline?.cleanup).toMatchObject({ status: "done", claims: 2 });
  });

  it("leaves a cleanup to whoever claimed it until the lease is over", async () => {
    bench.driver.cleanUp = () => new Promise(() => undefined);
    await bench.pass(12_000);
    await bench.kill(gateway);
    let cleaned = 0;
    bench.driver.cleanUp = () => Promise.resolve(void (cleaned += 1));
    const other = await bench.gateway("two");
    expect(cleaned).toBe(0);
    await bench.pass(BUDGETS.cleanupMs + 1000);
    expect(cleaned).toBe(1);
    expect((await bench.read(other, id)).deadline?.cleanup).toMatchObject({ status: "done", claims: 2 });
  });

  it("gains no time by a clock that was set back", async () => {
    await bench.pass(6000);
    const { deadline } = await bench.read(gateway, id);
    const left = readDeadline(deadline!, bench.clock.now()).remainingMs;
    await bench.kill(gateway);
    bench.clock.stepWall(-3_600_000);
    bench.clock.restart(0);
    const next = await bench.gateway();
    const restored = await bench.read(next, id);
    const remaining = readDeadline(restored.deadline!, bench.clock.now()).remainingMs;
    expect(remaining).toBeLessThanOrEqual(left + OBSERVED_MS);
    await bench.pass(remaining);
    expect((await bench.read(next, id)).deadline?.status).toBe("expired");
  });

  it("has each step keep the time that it had taken, though the clock was set back", async () => {
    const say = async (position: number): Promise<void> => {
      bench.driver.launches.at(-1)!.context.report(imageReport(position));
      await bench.settle();
    };
    await say(5);
    await bench.pass(6000);
    await say(6);
    await bench.kill(gateway);
    bench.clock.stepWall(-3_600_000);
    bench.clock.restart(0);
    const { steps } = await bench.read(await bench.gateway(), id);
    expect(readSteps(steps, bench.clock.now())).toMatchObject([{ position: 6, elapsedMs: 6000, quietMs: 0 }]);
  });

  it("gains no time by a clock that was set back in a quiet admission", async () => {
    const { deadline: begun, run } = await bench.read(gateway, id);
    const rejection = { kind: "rejected", generation: 1, reason: "Invalid", message: "no" } as const;
    await gateway.report(id, begun!.attempt, run, rejection);
    await bench.pass(BUDGETS.admissionMs - 1000);
    const { deadline } = await bench.read(gateway, id);
    const left = readDeadline(deadline!, bench.clock.now()).remainingMs;
    await bench.kill(gateway);
    bench.clock.stepWall(-(BUDGETS.admissionMs - 1000));
    bench.clock.restart(0);
    const restored = await bench.read(await bench.gateway(), id);
    const { remainingMs } = readDeadline(restored.deadline!, bench.clock.now());
    expect(remainingMs).toBeLessThanOrEqual(left + OBSERVED_MS);
  });

  it("finishes a stop and a delete that were asked for", async () => {
    bench.driver.remove = () => new Promise(() => undefined);
    await gateway.deleteSandbox(id);
    await bench.settle();
    await bench.kill(gateway);
    bench.driver.remove = () => Promise.resolve();
    const next = await bench.gateway();
    expect(await next.records.read(id)).toBeNull();
  });
});

describe("two gateways on one store", () => {
  it("leave the driver's work to the one that has it", async () => {
    await bench.gateway("two");
    await bench.pass(6000);
    expect(bench.driver.launches).toHaveLength(1);
  });

  it("leave it to the one that has it also when the store was away for a moment", async () => {
    const store = bench.storeOf(gateway);
    const { compareAndSwap } = store;
    store.compareAndSwap = () => Promise.reject(new Error("the store is away"));
    await bench.pass(1500);
    store.compareAndSwap = compareAndSwap;
    await bench.gateway("two");
    await bench.pass(6000);
    expect(bench.driver.launches).toHaveLength(1);
    expect(bench.logged).toContain("lease-not-kept");
  });

  it("take over the work of one that died once its lease is over", async () => {
    const other = await bench.gateway("two");
    await bench.kill(gateway);
    await bench.pass(6000);
    expect(await bench.read(other, id)).toMatchObject({ run: 2 });
    expect(bench.driver.launches).toHaveLength(2);
  });

  it("expire nothing wrongly when one of them acts on an old snapshot", async () => {
    const { deadline, run } = await bench.read(gateway, id);
    const token = deadline!.attempt;
    await gateway.report(id, token, run, {
      kind: "rejected",
      generation: 1,
      reason: "Invalid",
      message: "no",
    });
    const store = bench.storeOf(gateway);
    const old = await store.get(id);
    await bench.pass(BUDGETS.admissionMs - 1000);
    await gateway.update(id, { policy: { version: 1, env: { REPAIRED: "yes" } } });
    await bench.pass(2000);
    // By the old snapshot the deadline has passed; by the record it has not.
    const stale = new SandboxRecords(new StaleOnce(store, old!), bench.clock, new EventHub("stale"));
    const decided = await stale.change(id, (record, now) => ({
      record: observeTime(record, now),
      result: null,
    }));
    expect(decided.record.deadline?.status).toBe("active");
    expect((await bench.read(gateway, id)).deadline?.status).toBe("active");
  });
});

/** A store whose first answer is out of date, as that of a gateway that slept between its read and its write. */
class StaleOnce implements RecordStore {
  readonly #store: RecordStore;
  #old: StoredRecord | null;

  constructor(store: RecordStore, old: StoredRecord) {
    this.#store = store;
    this.#old = old;
  }

  get(id: string): Promise<StoredRecord | null> {
    const old = this.#old;
    this.#old = null;
    return old === null ? this.#store.get(id) : Promise.resolve(old);
  }

  insert: RecordStore["insert"] = (record) => this.#store.insert(record);
  findByName: RecordStore["findByName"] = (name) => this.#store.findByName(name);
  compareAndSwap: RecordStore["compareAndSwap"] = (...args) => this.#store.compareAndSwap(...args);
  delete: RecordStore["delete"] = (...args) => this.#store.delete(...args);
  list: RecordStore["list"] = (options) => this.#store.list(options);
  claimDue: RecordStore["claimDue"] = (claim) => this.#store.claimDue(claim);
  earliestDue: RecordStore["earliestDue"] = () => this.#store.earliestDue();
  close: RecordStore["close"] = () => this.#store.close();
}
