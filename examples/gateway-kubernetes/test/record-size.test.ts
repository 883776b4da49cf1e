import { InvalidInputError } from "@slipway-examples/gateway-core";
import { afterAll, describe, expect, it } from "vitest";
import { storedBytes } from "../src/store/record-size.js";
import { SPEC, tempDirs } from "./gateway-kit.js";
import { startWorld } from "./gateway-world.js";
import { startStores } from "./store-kit.js";

afterAll(() => tempDirs.remove());

describe("a record that is larger than the cluster takes", () => {
  const value = (size: number, letter: string) => ({ policy: letter.repeat(size) });
  const change = (size: number, letter: string) => ({ dueAt: null, value: value(size, letter) });

  it.each(["x", "<", '"', "é"])("is refused by its size, before it is sent (%s)", async (letter) => {
    await using it = await startStores();
    const store = it.store();
    await it.insert(store, "a");
    it.server.ledger.reset();
    await expect(it.during(store.compareAndSwap("id-a", 1, change(1_500_000, letter)))).rejects.toMatchObject(
      {
        name: "InvalidInputError",
        field: "record",
      },
    );
    const large = { id: "id-b", name: "b", dueAt: null, value: value(1_500_000, letter) };
    await expect(it.during(store.insert(large))).rejects.toMatchObject({ field: "record" });
    expect(it.server.ledger.count("patch", "sandboxrecords")).toBe(0);
    expect(it.server.ledger.count("create", "sandboxrecords")).toBe(0);
  });

  it("is none that fits, whatever it is made of", async () => {
    await using it = await startStores();
    const store = it.store();
    await it.insert(store, "a");
    for (const [version, [letter, size]] of (
      [
        ["x", 1_390_000],
        ["<", 230_000],
        ['"', 340_000],
      ] as const
    ).entries()) {
      expect(storedBytes(change(size, letter))).toBeLessThan(1_400_000);
      expect(await it.during(store.compareAndSwap("id-a", version + 1, change(size, letter)))).toBe(true);
    }
  });
});

describe("the largest policy that is taken", { timeout: 120_000 }, () => {
  const policyOf = (size: number) => ({ version: 1, env: { A: "<".repeat(size) } });

  it("leaves room for all that becomes of its sandbox", async () => {
    await using it = await startWorld("0.5.6", "cluster");
    await it.gateway();
    const core = it.core();
    // The sizes of one that is taken, and of one that is not.
    let [least, most] = [0, 256 * 1024];
    const isTaken = (work: Promise<unknown>): Promise<boolean> =>
      it.during(
        work.then(
          () => true,
          (error: unknown) => {
            if (error instanceof InvalidInputError) return false;
            throw error;
          },
        ),
      );
    const { record } = await it.during(core.create({ name: "box", spec: SPEC, policy: { version: 1 } }));
    await it.until("box", "Ready");
    while (most - least > 1) {
      const size = Math.floor((least + most) / 2);
      if (await isTaken(core.update(record.id, { policy: policyOf(size) }))) least = size;
      else most = size;
    }
    expect(least).toBeGreaterThan(150_000);
    expect(await isTaken(core.create({ name: "more", spec: SPEC, policy: policyOf(most + 2000) }))).toBe(
      false,
    );
    await it.during(core.stopSandbox(record.id));
    await it.until("box", "Stopped");
    await it.during(core.startSandbox(record.id));
    await it.until("box", "Ready");
    await it.during(core.deleteSandbox(record.id));
    await it.until("box", "none");
  });
});
