import fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { initial, play, step, type World } from "./races.js";
import { Reconciler, type ObservationSource, type SandboxRecord } from "../../src/phase/index.js";

function onlyIntentDiffers(
  from: SandboxRecord,
  to: SandboxRecord,
  desired: SandboxRecord["desired"],
): boolean {
  const meant: SandboxRecord = { ...from, desired, updatedAt: to.updatedAt };
  return to.desired === desired && isDeepStrictEqual({ ...to }, meant);
}

describe("interleavings of operations, readiness, exits, news and sweeps", () => {
  const check = (property: (world: World, record: SandboxRecord) => void): Promise<void> =>
    fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        initial,
        fc.array(step, { minLength: 1, maxLength: 9 }),
        async (s, record, steps) => {
          property(await play(s, record, steps), record);
        },
      ),
      { seed: 20_261_129, numRuns: 400 },
    );

  it("never run two driver operations of one sandbox at once", async () => {
    await check(({ engine }) => expect(engine.overlapping).toBeLessThanOrEqual(1));
  });

  it("leave a result only by an accepted start or delete, and never revive an expiry", async () => {
    await check(({ store }) => {
      for (const { from, to } of store.writes) {
        if (from.phase !== "Completed" && from.phase !== "Error") continue;
        if (to === null) continue;
        // A stop of what had ended already is an intent and nothing more: the result stays.
        const kept =
          to.phase === from.phase && (to.desired === from.desired || onlyIntentDiffers(from, to, "stopped"));
        const asked = to.phase === "Starting" || to.phase === "Deleting" || to.phase === "Stopping";
        const reported = from.phase === "Error" && (to.phase === "Completed" || to.phase === "Error");
        if (!kept && !asked && !reported)
          expect.fail(`${from.phase}/${from.reason} -> ${to.phase}/${to.reason}`);
      }
    });
  });

  it("never become Ready after the deadline", async () => {
    await check(({ store }) => {
      for (const { from, to } of store.writes) {
        const deadline = from.deadline?.deadlineAt;
        if (to?.phase !== "Ready" || from.phase === "Ready" || typeof deadline !== "number") continue;
        expect(to.since).toBeLessThan(deadline);
      }
    });
  });

  it("replay no completed run: the engine starts it again only when a user asked", async () => {
    await check(({ engine, store, outcomes }, record) => {
      if (record.phase !== "Completed") return;
      const asked = store.writes.filter(
        ({ from, to }) => from.phase === "Completed" && to?.phase === "Starting",
      ).length;
      const starts = engine.log.filter((verb) => verb === "start").length;
      if (asked === 0) expect(starts).toBe(0);
      for (const { gate } of outcomes)
        if (gate?.rule === "start-not-automatic") expect(gate.allowed).toBe(false);
    });
  });

  it("lose no update: what was written last is what is stored, and intent moves only with an operation", async () => {
    await check(({ store }) => {
      store.writes.forEach(({ from }, index) => {
        const before = store.writes[index - 1];
        if (before !== undefined) expect(from).toBe(before.to);
      });
      for (const { from, to } of store.writes) {
        if (to === null || to.desired === from.desired) continue;
        const operation =
          to.phase === "Starting" ||
          to.phase === "Provisioning" ||
          to.phase === "Stopping" ||
          to.phase === "Deleting";
        const restored = from.phase === "Stopping" || from.phase === "Deleting" || from.phase === "Starting";
        const asked =
          onlyIntentDiffers(from, to, "stopped") ||
          onlyIntentDiffers(from, to, "deleted") ||
          onlyIntentDiffers(from, to, "running");
        expect(operation || restored || asked).toBe(true);
      }
    });
  });

  it("come to rest: with no more news, two looks in a row change nothing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        initial,
        fc.array(step, { maxLength: 8 }),
        async (s, record, steps) => {
          const world = await play(s, record, steps);
          const source: ObservationSource = {
            list: () =>
              Promise.resolve({
                items: world.engine.gone ? [] : [world.engine.look(undefined)],
                cursor: null,
              }),
            get: (_id, run) => Promise.resolve(world.engine.look(run)),
            watch: async function* () {},
          };
          const { inner } = world.store;
          const reconciler = new Reconciler({ store: inner, source, clock: world.engine.clock });
          await reconciler.reconcile("sb");
          const writes = inner.writes;
          expect(["unchanged", "no-record"]).toContain((await reconciler.reconcile("sb")).outcome);
          expect(inner.writes).toBe(writes);
        },
      ),
      { seed: 20_261_129, numRuns: 300 },
    );
  });
});
