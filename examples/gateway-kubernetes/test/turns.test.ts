import { VirtualClock } from "slipway/testing";
import { describe, expect, it } from "vitest";
import { Turns } from "../src/store/turns.js";
import { nameOfRecord, startStores } from "./store-kit.js";

const IDS = Array.from({ length: 300 }, (_, n) => `sb-${n.toString(36)}`);

describe("turns among gateways that see one another write", () => {
  it("are the same on every gateway, one first for each record, and about evenly spread", () => {
    const clock = new VirtualClock();
    const all = ["one", "two", "three"].map((name) => new Turns(clock, name));
    for (const each of all) for (const other of all) each.saw(other.markOf("w"));
    const waits = all.map((each) => each.waits());
    const firsts = all.map(() => 0);
    for (const id of IDS) {
      const found = waits.map((wait) => wait(id));
      expect([...found].sort((a, b) => a - b)).toEqual([0, 2000, 4000]);
      firsts[found.indexOf(0)]! += 1;
    }
    for (const count of firsts) expect(count).toBeGreaterThan(IDS.length / 5);
  });

  it("are everybody's who is alone, and pass on from one that writes no more", async () => {
    const clock = new VirtualClock();
    const [one, other] = [new Turns(clock, "one"), new Turns(clock, "other")];
    expect(IDS.every((id) => one.waits()(id) === 0)).toBe(true);
    one.saw(one.markOf("w"));
    one.saw(other.markOf("w"));
    expect(IDS.some((id) => one.waits()(id) === 2000)).toBe(true);
    await clock.advanceAsync(60_001);
    expect(IDS.every((id) => one.waits()(id) === 0)).toBe(true);
  });

  it("come last for one that others have not seen, and a write without a mark gives nobody a turn", () => {
    const clock = new VirtualClock();
    const [one, other] = [new Turns(clock, "one"), new Turns(clock, "other")];
    one.saw("0b8f8f8e-8f50-4b0e-a3b0-0e9d1c0f7a11");
    expect(one.waits()("sb-1")).toBe(0);
    one.saw(other.markOf("w"));
    expect(IDS.every((id) => one.waits()(id) === 2000)).toBe(true);
  });
});

describe("what is due in the cluster", () => {
  it("is taken up by one gateway, at its instant, and by the other when that one is gone", async () => {
    await using it = await startStores();
    const [one, other] = [it.store(), it.store()];
    const count = 60;
    for (let n = 0; n < count; n += 1) await it.insert(n % 2 === 0 ? one : other, `box-${n}`, 5000);
    await it.driven.run(1000);
    const claim = async (store: typeof one, now: number): Promise<string[]> =>
      (await store.claimDue({ now, limit: 200, owner: "x", until: now + 2000 })).map(nameOfRecord);
    expect(await claim(one, 4999)).toEqual([]);
    const [first, second] = [await claim(one, 5000), await claim(other, 5000)];
    expect(first.length).toBeGreaterThan(10);
    expect(second.length).toBeGreaterThan(10);
    expect(new Set([...first, ...second]).size).toBe(count);
    expect(first.length + second.length).toBe(count);
    expect(await one.earliestDue()).toBe(5000);
    // What one has done, the other one has not left to do.
    it.server.ledger.reset();
    for (const name of first) expect(await it.change(one, name, 1)).toBe(true);
    for (const name of second) expect(await it.change(other, name, 1)).toBe(true);
    await it.driven.run(1000);
    expect(it.server.ledger.requests).toBe(count);
    expect(await claim(one, 7000)).toEqual([]);
    for (const name of [...first, ...second]) await it.change(one, name, 2, 9000);
    await it.driven.run(1000);
    const late = await claim(other, 11_000);
    expect(new Set([...late]).size).toBe(count);
    const left = (await claim(other, 9000)).length;
    expect(await other.earliestDue()).toBe(left > 0 ? 9000 : 11_000);
  });
});
