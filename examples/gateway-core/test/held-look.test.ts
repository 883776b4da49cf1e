import { afterEach, beforeEach, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import { sleep } from "../src/sleep.js";
import { Bench } from "./bench.js";

let bench: Bench;
let one: Gateway;

beforeEach(async () => {
  bench = await Bench.open();
  bench.driver.keepsFolders = false;
  one = await bench.gateway("one");
});

afterEach(() => bench.close());

/** The next look has its answer, and whoever looked is stopped before it gets it. Called, it goes on. */
async function heldLook(begin: () => Promise<unknown>): Promise<() => Promise<void>> {
  let goOn: (() => void) | undefined;
  bench.driver.onSeen = () => {
    bench.driver.onSeen = () => Promise.resolve();
    return new Promise((resolve) => (goOn = resolve));
  };
  const done = begin();
  await bench.pass(100);
  if (goOn === undefined) throw new Error("nobody looked");
  return async () => {
    goOn?.();
    await bench.settle();
    await done;
  };
}

/** The store tells a gateway of what another one wrote. */
async function tell(gateway: Gateway, id: string): Promise<void> {
  const { version } = (await one.records.read(id)) ?? { version: 0 };
  await gateway.noticeChange({ id, version });
  await bench.settle();
}

it("a look that was held up ends no run that was started meanwhile, by any gateway", async () => {
  const two = await bench.gateway("two");
  const id = await bench.create(one);
  const goOn = await heldLook(() => two.reconcile());
  await bench.pass(500);
  bench.driver.launches.at(-1)?.succeed();
  await bench.pass(500);
  expect((await bench.read(one, id)).instance?.launchedAt).not.toBeNull();
  // Any backend takes a moment to answer the next look.
  bench.driver.onSeen = () => sleep(bench.clock, 1000);
  await goOn();
  await bench.report(one, id, { kind: "accepted", generation: 1 });
  await tell(two, id);
  await bench.report(one, id, { kind: "ready", generation: 1 });
  await tell(two, id);
  await bench.pass(3000);
  expect(bench.driver.calls).toEqual(["launch 1"]);
  expect(await bench.read(one, id)).toMatchObject({ phase: "Ready", run: 1 });
});

it("a look that was held up makes no start of a sandbox that runs by now", async () => {
  const two = await bench.gateway("two");
  const id = await bench.create(one);
  const goOn = await heldLook(() => two.startSandbox(id));
  bench.driver.launches.at(-1)?.succeed();
  await bench.settle();
  await bench.report(one, id, { kind: "accepted", generation: 1 });
  await bench.report(one, id, { kind: "ready", generation: 1 });
  await goOn();
  await bench.pass(3000);
  expect(bench.driver.calls).toEqual(["launch 1"]);
  expect(await bench.read(one, id)).toMatchObject({ phase: "Ready", run: 1, attemptNumber: 1 });
});

it("a look that was held up takes the place of none that was begun after it", async () => {
  const id = await bench.create(one);
  await bench.becomeReady(one, id);
  const run = bench.driver.running.get(id);
  // Somebody else replaces what it runs in.
  bench.driver.running.delete(id);
  const goOn = await heldLook(() => one.startSandbox(id));
  if (run !== undefined) bench.driver.running.set(id, run);
  await one.reconcile();
  await goOn();
  await bench.pass(3000);
  expect(bench.driver.calls).toEqual(["launch 1"]);
  expect(await bench.read(one, id)).toMatchObject({ phase: "Ready", run: 1, attemptNumber: 1 });
});

it("a run that ended before its start was written down is found all the same", async () => {
  const id = await bench.create(one);
  bench.driver.launches.at(-1)?.succeed();
  bench.driver.running.get(id)?.gone();
  await bench.pass(3000);
  expect(bench.driver.calls).toEqual(["launch 1", "stop", "launch 2"]);
});
