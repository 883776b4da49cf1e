import type { Hono } from "hono";
import type { ActivationEntry } from "slipway/retry";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { GatewayLedger } from "../src/gateway/activations.js";
import type { Gateway } from "../src/gateway/gateway.js";
import { buildApp } from "../src/http/app.js";
import { HELD_HEADER, REMAINING_HEADER } from "../src/http/supervisor-routes.js";
import type { SandboxRecord } from "../src/record/record.js";
import { SqliteActivationLedger } from "../src/store/sqlite-activation-ledger.js";
import { Bench, BUDGETS } from "./bench.js";
import { claimOf } from "./claims.js";

type Moment = "before the entry is read" | "after it" | "before the claim is written" | "once it is written";

/** The ledger of a gateway that is held up at one moment of a claim: its database is slow, or its process was stopped. */
class HeldLedger implements GatewayLedger {
  readonly #ledger: SqliteActivationLedger;
  /** What happens meanwhile, once. */
  readonly meanwhile = new Map<Moment, () => Promise<void>>();
  isAway = false;

  constructor(path: string) {
    this.#ledger = new SqliteActivationLedger(path);
  }

  async read(id: string): Promise<ActivationEntry | null> {
    await this.#reach("before the entry is read");
    const entry = await this.#ledger.read(id);
    await this.#reach("after it");
    return entry;
  }

  async compareAndSwap(id: string, version: number | null, next: ActivationEntry | null): Promise<boolean> {
    await this.#reach("before the claim is written");
    const swapped = await this.#ledger.compareAndSwap(id, version, next);
    await this.#reach("once it is written");
    return swapped;
  }

  forget(id: string): Promise<void> {
    return this.#ledger.forget(id);
  }

  close(): Promise<void> {
    return this.#ledger.close();
  }

  async #reach(moment: Moment): Promise<void> {
    if (this.isAway) throw new Error("the ledger is away");
    const what = this.meanwhile.get(moment);
    this.meanwhile.delete(moment);
    await what?.();
  }
}

let bench: Bench;
let ledger: HeldLedger;
let one: Gateway;
let two: Gateway;
let app: Hono;
let id: string;
/** The record when its run was admitted. */
let admitted: SandboxRecord;

beforeEach(async () => {
  bench = await Bench.open();
  ledger = new HeldLedger(bench.path);
  one = await bench.gateway("one", { ledger });
  two = await bench.gateway("two");
  app = buildApp({ gateway: one, log: () => undefined });
  id = await bench.create(one);
  bench.driver.launches.at(-1)?.succeed();
  await bench.settle();
  await bench.report(one, id, { kind: "accepted", generation: 1 });
  admitted = await bench.read(one, id);
});

afterEach(async () => {
  await bench.close();
  await ledger.close();
});

/** As the supervisor of the run that was admitted. */
async function ask(init: RequestInit = {}, through = app) {
  const headers = {
    authorization: `Bearer ${admitted.deadline?.attempt ?? ""}`,
    "x-slipway-run": String(admitted.run),
  };
  const response = await through.request(`/v1/supervisor/${id}/activation`, { ...init, headers });
  const answer = (await response.json()) as Record<string, unknown>;
  const [remaining, held] = [REMAINING_HEADER, HELD_HEADER].map((name) => response.headers.get(name));
  return { status: response.status, remaining, held, answer };
}

const claim = () =>
  ask({ method: "POST", body: JSON.stringify({ expectedVersion: null, next: claimOf("a", 1) }) });
const entry = () => two.activations.read(admitted);

/** Nobody but the clock: the gateway itself was stopped, and no other one is there. */
const timePasses = (): Promise<void> => {
  bench.clock.advance(BUDGETS.admissionMs);
  return Promise.resolve();
};
const othersExpireIt = () => bench.pass(BUDGETS.admissionMs + 5000);

const moments: readonly Moment[] = [
  "before the entry is read",
  "after it",
  "before the claim is written",
  "once it is written",
];

describe.each(moments)("a gateway that is held up %s", (moment) => {
  it("grants no claim of an attempt whose time passed meanwhile", async () => {
    ledger.meanwhile.set(moment, timePasses);
    expect(await claim()).toMatchObject({ status: 410, answer: { error: { code: "expired" } } });
    expect((await entry())?.state).not.toBe("activating");
  });

  it("grants no claim of an attempt that was expired and cleaned up meanwhile", async () => {
    ledger.meanwhile.set(moment, othersExpireIt);
    const { status, answer } = await claim();
    expect(await bench.read(two, id)).toMatchObject({
      reason: "ProvisioningTimedOut",
      deadline: { status: "expired", cleanup: { status: "done" } },
    });
    expect({ status, answer }).toMatchObject({ status: 410, answer: { error: { code: "expired" } } });
    expect((await entry())?.state).not.toBe("activating");
  });

  it("grants no claim of a sandbox that was told to stop meanwhile", async () => {
    ledger.meanwhile.set(moment, async () => {
      await two.stopSandbox(id);
      await bench.settle();
    });
    // Where the stop has written its entry first, another look is asked for, which finds it.
    expect((await claim()).answer).not.toMatchObject({ swapped: true });
    expect(await entry()).toMatchObject({ state: "stopped" });
  });

  it("grants no claim of a sandbox that was removed meanwhile, and leaves no entry of it", async () => {
    ledger.meanwhile.set(moment, async () => {
      await two.deleteSandbox(id);
      await bench.pass(1000);
    });
    expect(await claim()).toMatchObject({ status: 401 });
    expect(await two.records.read(id)).toBeNull();
    expect(await entry()).toBeNull();
  });

  it("grants the claim of an attempt that has time left, and tells what is left now", async () => {
    ledger.meanwhile.set(moment, async () => bench.pass(1000));
    expect(await claim()).toEqual({
      status: 200,
      remaining: String(BUDGETS.admissionMs - 1000),
      held: "1000",
      answer: { swapped: true },
    });
    expect(await entry()).toMatchObject({ state: "activating", claim: "a" });
  });
});

describe("a claim that cannot be taken back", () => {
  it("is refused, and shown to nobody as one that may be started", async () => {
    ledger.meanwhile.set("once it is written", () => {
      ledger.isAway = true;
      return othersExpireIt();
    });
    expect(await claim()).toMatchObject({ status: 410, answer: { error: { code: "expired" } } });
    expect(bench.logged).toContain("ledger-not-cleared");
    ledger.isAway = false;
    expect(await entry()).toMatchObject({ state: "activating", claim: "a" });
    expect(await ask()).toMatchObject({ status: 410, answer: { error: { code: "expired" } } });
  });
});

describe("a claim whose answer was lost", () => {
  const lost = async (): Promise<void> => {
    const store = bench.storeOf(one);
    const { get } = store;
    ledger.meanwhile.set("once it is written", () => {
      let isThere = true;
      store.get = function (...args) {
        // The look that is made whether the record is there; then the one that the answer goes by.
        if (isThere) {
          isThere = false;
          return get.apply(this, args);
        }
        store.get = get;
        return Promise.reject(new Error("the store is away"));
      };
      return Promise.resolve();
    });
    expect((await claim()).status).toBe(500);
  };

  it("is still its supervisor's while the attempt has time", async () => {
    await lost();
    expect(await ask()).toMatchObject({
      status: 200,
      answer: { entry: { state: "activating", claim: "a" } },
    });
  });

  it("is nobody's once the attempt is over, whoever wrote that", async () => {
    await lost();
    bench.clock.advance(BUDGETS.admissionMs);
    expect(await ask()).toMatchObject({ status: 410, answer: { error: { code: "expired" } } });
    await bench.pass(5000);
    expect(await bench.read(two, id)).toMatchObject({ deadline: { status: "expired" } });
    expect(await ask()).toMatchObject({ status: 410, answer: { error: { code: "expired" } } });
  });

  it("is not taken back once its supervisor has heard of it from another gateway, and has started", async () => {
    const { version } = claimOf("a", 1);
    ledger.meanwhile.set("once it is written", async () => {
      const other = buildApp({ gateway: two, log: () => undefined });
      expect(await ask({}, other)).toMatchObject({ answer: { entry: { state: "activating", claim: "a" } } });
      const next = { ...claimOf("a", 1), state: "active", version: version + 1 };
      const body = JSON.stringify({ expectedVersion: version, next });
      expect(await ask({ method: "POST", body }, other)).toMatchObject({ answer: { swapped: true } });
      await bench.report(two, id, { kind: "ready", generation: 1 });
    });
    expect(await claim()).toMatchObject({ status: 410, answer: { error: { code: "settled" } } });
    expect(await bench.read(two, id)).toMatchObject({ phase: "Ready" });
    expect(await entry()).toMatchObject({ state: "active", claim: "a" });
  });

  it("is not shown by a gateway that was held up after it had read the entry", async () => {
    await lost();
    ledger.meanwhile.set("after it", othersExpireIt);
    expect(await ask()).toMatchObject({ status: 410, answer: { error: { code: "expired" } } });
  });
});

it("tells the supervisor of an attempt that expired that no time is left, and not that none is kept", async () => {
  const { version } = claimOf("a", 1);
  const started = { ...claimOf("a", 1), state: "active", version: version + 1 };
  await claim();
  await ask({ method: "POST", body: JSON.stringify({ expectedVersion: version, next: started }) });
  bench.clock.advance(BUDGETS.admissionMs);
  expect(await ask()).toMatchObject({ status: 200, remaining: "0", answer: { entry: { state: "active" } } });
});
