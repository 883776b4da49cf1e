import { describe, expect, it } from "vitest";
import { storedBytes } from "../src/store/record-size.js";
import { startStores } from "./store-kit.js";

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
