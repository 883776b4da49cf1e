import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import { Bench, BUDGETS } from "./bench.js";

let bench: Bench;
let gateway: Gateway;
let id: string;
let launch: { readonly succeed: () => void } | undefined;

beforeEach(async () => {
  bench = await Bench.open();
  bench.driver.heedsAborts = false;
  gateway = await bench.gateway();
  id = await bench.create(gateway);
  launch = bench.driver.launches.at(-1);
});

afterEach(() => bench.close());

/** The launch starts something after all, when its gateway does not wait for it any more. */
async function startsLate(): Promise<void> {
  launch?.succeed();
  await bench.settle();
}

describe("a launch that was abandoned leaves nothing that runs", () => {
  it("when its attempt expired", async () => {
    await bench.pass(BUDGETS.preparationMs + 5000);
    await startsLate();
    expect([...bench.driver.running.keys()]).toEqual([]);
  });

  it("when its sandbox was deleted meanwhile", async () => {
    await gateway.deleteSandbox(id);
    await bench.pass(5000);
    expect(await gateway.records.read(id)).toBeNull();
    await startsLate();
    expect([...bench.driver.running.keys()]).toEqual([]);
    expect(bench.driver.calls.at(-1)).toBe("remove");
  });

  it("when another one was begun and stopped meanwhile", async () => {
    await bench.pass(BUDGETS.preparationMs + 5000);
    await gateway.startSandbox(id);
    await gateway.stopSandbox(id);
    await bench.pass(5000);
    expect(await bench.read(gateway, id)).toMatchObject({ phase: "Stopped", run: 2, instance: null });
    await startsLate();
    expect([...bench.driver.running.keys()]).toEqual([]);
  });

  it("and ends nothing of a later one", async () => {
    await bench.pass(BUDGETS.preparationMs + 5000);
    await gateway.startSandbox(id);
    await bench.settle();
    const before = bench.driver.calls.length;
    await startsLate();
    await bench.becomeReady(gateway, id);
    expect(bench.driver.running.get(id)?.instance).toBe((await bench.read(gateway, id)).instance?.id);
    expect(bench.driver.calls.slice(before)).toEqual([]);
  });
});

describe("a launch whose gateway has heard nothing leaves nothing that runs", () => {
  it("when another gateway removed its sandbox", async () => {
    const two = await bench.gateway("two");
    await two.deleteSandbox(id);
    await bench.settle();
    expect(await two.records.read(id)).toBeNull();
    await startsLate();
    expect([...bench.driver.running.keys()]).toEqual([]);
    expect(bench.driver.calls.slice(-2)).toEqual(["remove", "remove"]);
  });

  it("when another gateway cleaned its attempt up", async () => {
    const two = await bench.gateway("two");
    const letGo = hold(gateway);
    await bench.pass(BUDGETS.preparationMs + 5000);
    expect(await bench.read(two, id)).toMatchObject({
      phase: "Error",
      deadline: { cleanup: { status: "done" } },
    });
    await startsLate();
    await letGo();
    expect([...bench.driver.running.keys()]).toEqual([]);
  });
});

describe("a gateway that is told to end while it is about to launch", () => {
  it("begins none", async () => {
    bench.driver.heedsAborts = true;
    await bench.pass(BUDGETS.preparationMs + 5000);
    const launches = bench.driver.launches.length;
    const store = bench.storeOf(gateway);
    const { get } = store;
    let letGo: (() => Promise<void>) | undefined;
    store.get = async (...args) => {
      const found = await get.apply(store, args);
      // The worker has read that there is a launch to make, and its next look is the one to begin it by.
      if (found?.value["phase"] === "Starting" && found.value["instance"] === null) letGo ??= hold(gateway);
      return found;
    };
    await gateway.startSandbox(id);
    await bench.settle();
    let ended = false;
    const closing = gateway.close().then(() => (ended = true));
    await bench.settle();
    store.get = get;
    await letGo?.();
    await bench.pass(5000);
    expect({ ended, launches: bench.driver.launches.length }).toEqual({ ended: true, launches });
    await closing;
  });
});

/** The store answers this gateway nothing. Called, it does. */
function hold(held: Gateway): () => Promise<void> {
  const store = bench.storeOf(held);
  const { get, claimDue } = store;
  let letGo = (): void => undefined;
  const answer = new Promise<void>((resolve) => (letGo = resolve));
  store.get = (...args) => answer.then(() => get.apply(store, args));
  store.claimDue = (...args) => answer.then(() => claimDue.apply(store, args));
  return async () => {
    letGo();
    await bench.settle();
  };
}
