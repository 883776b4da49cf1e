import { expect, it } from "vitest";
import {
  observeDockerInspect,
  Reconciler,
  type ObservationSource,
  type SandboxRecord,
} from "../../src/phase/index.js";
import { MemoryRecordStore, VirtualClock } from "../../src/testing/index.js";

const NOW = Date.parse("2026-10-20T12:00:00Z");
const exited = { Status: "exited", ExitCode: 0, StartedAt: "2026-10-20T09:02:08Z" };

/** What the engine shows, what the record was, and what it is again once the driver has refused its delete. */
it.each<[string, unknown, Partial<SandboxRecord>, string, number | null]>([
  [
    "the run before had ended",
    { ...exited, FinishedAt: "2026-10-20T11:40:02Z" },
    { phase: "Starting", startRequestedAt: Date.parse("2026-10-20T11:59:50Z") },
    "Starting",
    null,
  ],
  [
    "its own run has ended meanwhile",
    { ...exited, FinishedAt: "2026-10-20T11:59:55Z" },
    { phase: "Starting", startRequestedAt: Date.parse("2026-10-20T11:59:50Z") },
    "Completed",
    0,
  ],
  [
    "it was being made",
    { Status: "created", ExitCode: 0, StartedAt: "0001-01-01T00:00:00Z" },
    { phase: "Provisioning" },
    "Provisioning",
    null,
  ],
  ["it was killed", { ...exited, ExitCode: 143 }, { phase: "Ready" }, "Error", 143],
  ["it was stopped", { ...exited, ExitCode: 143 }, { phase: "Stopped", desired: "stopped" }, "Stopped", null],
])("a delete that fails gives back what was: %s", async (_what, State, before, phase, exitCode) => {
  const store = new MemoryRecordStore();
  store.put("sb", { phase: "Ready", desired: "running", since: 0, ...before });
  const source: ObservationSource = {
    list: () => Promise.resolve({ items: [], cursor: null }),
    get: (id, run) =>
      Promise.resolve({ id, observation: observeDockerInspect({ inspect: { Id: "c", State } }, { run }) }),
    watch: async function* () {},
  };
  const reconciler = new Reconciler({ store, source, clock: new VirtualClock({ startAt: NOW }) });
  const call = (): Promise<never> => Promise.reject(new Error("the volume is in use"));
  expect(await reconciler.operate("sb", "delete", { call })).toMatchObject({ outcome: "failed" });
  const record = store.peek("sb")!;
  expect([record.phase, record.exitCode ?? null]).toEqual([phase, exitCode]);
  expect(record.desired).toBe(before.desired ?? "running");
  await reconciler.close();
});
