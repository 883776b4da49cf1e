import { afterEach, beforeEach, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import { Bench, BUDGETS } from "./bench.js";

let bench: Bench;

beforeEach(async () => {
  bench = await Bench.open();
});

afterEach(() => bench.close());

/** The gateway's worker reads that a cleanup is pending, and is stopped before it claims it. Called, it goes on. */
async function heldBeforeClaim(gateway: Gateway, until: () => Promise<void>): Promise<() => Promise<void>> {
  const store = bench.storeOf(gateway);
  const { get } = store;
  let goOn: (() => void) | undefined;
  let isPending = false;
  store.get = async function (id) {
    if (isPending) {
      store.get = get;
      await new Promise<void>((resolve) => (goOn = resolve));
      return get.call(this, id);
    }
    const found = await get.call(this, id);
    isPending = JSON.stringify(found?.value).includes('"cleanup":{"status":"pending"');
    return found;
  };
  await until();
  if (goOn === undefined) throw new Error("nobody was about to claim the cleanup");
  return async () => {
    goOn?.();
    await bench.settle();
  };
}

it("a cleanup that is claimed late is meant for the attempt that it was claimed for", async () => {
  const two = await bench.gateway("two");
  const id = await bench.create(two);
  bench.driver.launches.at(-1)?.succeed();
  await bench.settle();
  const goOn = await heldBeforeClaim(two, () => bench.pass(BUDGETS.preparationMs));
  const one = await bench.gateway("one");
  await bench.pass(2000);
  expect(bench.driver.cleanedUpTo).toEqual({ attemptNumber: 1, run: 1 });
  await one.startSandbox(id);
  await bench.settle();
  bench.driver.launches.at(-1)?.succeed();
  await bench.settle();
  await bench.kill(one);
  await bench.pass(BUDGETS.preparationMs);
  expect(await bench.read(two, id)).toMatchObject({
    attemptNumber: 2,
    run: 2,
    deadline: { status: "expired", cleanup: { status: "pending" } },
  });
  await goOn();
  expect(bench.driver.cleanedUpTo).toEqual({ attemptNumber: 2, run: 2 });
  expect((await bench.read(two, id)).deadline?.cleanup.status).toBe("done");
});
