import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import { Workers } from "../src/gateway/workers.js";
import { Bench } from "./bench.js";

describe("a gateway that is told to end", () => {
  let bench: Bench;
  let gateway: Gateway;
  beforeEach(async () => {
    bench = await Bench.open();
    gateway = await bench.gateway("one");
    await bench.create(gateway);
  });
  afterEach(() => bench.close());

  it("begins no launch while its last look at what is due is under way", async () => {
    bench.driver.launches.at(-1)?.fail(new Error("the engine is away"));
    await bench.settle();
    const launches = bench.driver.launches.length;
    const store = bench.storeOf(gateway);
    const { claimDue, earliestDue } = store;
    let isEnding = false;
    const held: (() => void)[] = [];
    const hold = () => new Promise<void>((resolve) => held.push(resolve));
    store.claimDue = async (claim) => {
      const due = await claimDue.call(store, claim);
      if (due.length > 0) await hold();
      return due;
    };
    store.earliestDue = async () => {
      if (isEnding) await hold();
      return earliestDue.call(store);
    };
    // The launch is due again, and the store is slow to say so.
    await bench.pass(5000);
    isEnding = true;
    let ended = false;
    const closing = gateway.close().then(() => (ended = true));
    await bench.settle();
    held.shift()?.();
    await bench.pass(1000);
    const begun = bench.driver.launches.length - launches;
    const wasEnded = ended;
    for (let rest = 0; rest < 5; rest += 1) {
      held.shift()?.();
      await bench.pass(1000);
    }
    await closing;
    expect({ wasEnded, ended, begun }).toEqual({ wasEnded: false, ended: true, begun: 0 });
  });
});

describe("workers that were told to end", () => {
  it.each([true, false])("are not joined by any that begins later: begun before: %s", async (isBegun) => {
    // Each worker that begins reads the record of its sandbox first.
    const read: string[] = [];
    const records = {
      read: (id: string) => {
        read.push(id);
        return Promise.resolve(null);
      },
    };
    const workers = new Workers({ records } as unknown as ConstructorParameters<typeof Workers>[0]);
    workers.wake("a");
    if (isBegun) workers.begin();
    const ended = workers.close();
    workers.wake("b");
    workers.begin();
    await ended;
    expect(read).toEqual(isBegun ? ["a"] : []);
  });
});
