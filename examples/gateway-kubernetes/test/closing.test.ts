import { afterAll, describe, expect, it } from "vitest";
import { SPEC, tempDirs } from "./gateway-kit.js";
import { startWorld } from "./gateway-world.js";

afterAll(() => tempDirs.remove());

/** What a request that hangs is given, with what a test's steps take. */
const SOON_MS = 4000;

describe("a gateway with records in the cluster that ends", () => {
  it.each(["away", "silent", "refusing", "there"] as const)(
    "ends soon, on a cluster that is %s, whatever streams are broken",
    async (how) => {
      await using it = await startWorld("0.5.6", "cluster", { route: () => null });
      const replica = await it.gateway();
      await it.during(replica.core.create({ name: "box", spec: SPEC, policy: { version: 1 } }));
      await it.driven.run(10_000);
      if (how === "away") await it.server.close();
      if (how === "silent") it.server.faults.inject({ fault: { kind: "hang" } });
      if (how === "refusing") it.server.faults.inject({ fault: { kind: "status", code: 503 } });
      it.server.cutWatches();
      if (how !== "there") await it.driven.run(30_000);
      const begunAt = it.clock.now();
      it.replicas.length = 0;
      let done = false;
      void replica.running.close().then(
        () => (done = true),
        () => (done = true),
      );
      await it.driven.run(120_000, () => done);
      expect(done).toBe(true);
      expect(it.clock.now() - begunAt).toBeLessThanOrEqual(SOON_MS);
    },
  );
});
