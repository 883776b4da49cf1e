import { describe, expect, it } from "vitest";
import { nothing, ready, running, touch, world } from "../../test/phase/operations.js";
import { absent } from "./observation.js";
import type { ObservationSource } from "./ports.js";
import type { SandboxRecord } from "./record.js";

describe("a driver call that failed", () => {
  const refused = new Error("the driver refuses");
  const fails = (): Promise<never> => Promise.reject(refused);

  it("is looked into: what it left is written, and its error is given by identity", async () => {
    const { store, looks, clock, reconciler } = world(ready, running);
    const outcome = await reconciler.operate("sb", "stop", { call: fails });
    expect(outcome).toMatchObject({
      outcome: "failed",
      gate: { route: "stop" },
      record: { phase: "Ready", since: clock.now() },
    });
    expect(outcome.error).toBe(refused);
    expect(outcome.record).toBe(store.peek("sb"));
    expect(looks).toEqual(["sb"]);
  });

  it("may also throw before it gives a promise", async () => {
    const { reconciler } = world(ready, running);
    const call = (): never => {
      throw refused;
    };
    expect(await reconciler.operate("sb", "stop", { call })).toMatchObject({
      outcome: "failed",
      error: refused,
    });
  });

  it("that cannot be looked into leaves what was written", async () => {
    const source: ObservationSource = {
      list: () => Promise.reject(new Error("no answer")),
      get: () => Promise.reject(new Error("no answer")),
      watch: nothing,
    };
    const { store, reconciler } = world(ready, running, { source });
    const { writes } = store;
    const outcome = await reconciler.operate("sb", "stop", { call: fails });
    expect(outcome).toMatchObject({ outcome: "failed", record: { phase: "Stopping" }, error: refused });
    expect(store.writes - writes).toBe(1);
  });

  it("is resolved by the gateway's policy", async () => {
    const policy = { removesComputeOnStop: true };
    const { reconciler } = world(ready, absent(null), { policy });
    const outcome = await reconciler.operate("sb", "stop", { call: fails });
    expect(outcome).toMatchObject({ outcome: "failed", record: { phase: "Stopped" } });
  });

  it("is resolved over what others write meanwhile, as long as nobody decides otherwise", async () => {
    for (const conflicts of [2, 3]) {
      const { store, reconciler } = world(ready, running);
      let left = 0;
      store.beforeWrite = () => {
        if (left > 0) touch(store);
        left -= 1;
      };
      const outcome = await reconciler.operate("sb", "stop", {
        call: () => {
          left = conflicts;
          return fails();
        },
      });
      const record = conflicts === 2 ? { phase: "Ready" } : null;
      expect(outcome).toMatchObject({
        outcome: record === null ? "overtaken" : "failed",
        gate: { route: "stop" },
        record,
        error: refused,
      });
      if (record === null) expect(store.peek("sb")?.phase).toBe("Stopping");
    }
  });

  it("resolves nothing over a later intent, or over a record that is gone", async () => {
    const deleting: SandboxRecord = { phase: "Deleting", desired: "deleted", since: 0 };
    for (const later of [deleting, null]) {
      const { store, reconciler } = world(ready, running);
      const outcome = await reconciler.operate("sb", "stop", {
        call: async () => {
          if (later !== null) store.put("sb", later);
          else {
            const stored = await store.get("sb");
            await store.delete("sb", stored?.version ?? 0);
          }
          throw refused;
        },
      });
      expect(outcome).toMatchObject({ outcome: "overtaken", record: null, error: refused });
      expect(store.peek("sb")).toBe(later);
    }
  });
});
