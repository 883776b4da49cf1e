import { describe, expect, it } from "vitest";
import {
  observeDockerInspect,
  observePodmanInspect,
  observePodmanListEntry,
  Reconciler,
  type ExpectedRun,
  type Observation,
  type ObservationSource,
  type SandboxRecord,
} from "../../src/phase/index.js";
import { MemoryRecordStore, VirtualClock } from "../../src/testing/index.js";

const NOW = 1_800_000_000_000;
const zero = "0001-01-01T00:00:00Z";
const made = { Status: "created", Running: false, StartedAt: zero, FinishedAt: zero, ExitCode: 0, Error: "" };
const refused = { ...made, ExitCode: 128, Error: "port is already allocated" };

type Look = (run?: ExpectedRun) => Observation;
const docker =
  (State: unknown): Look =>
  (run) =>
    observeDockerInspect({ inspect: { Id: "c", State } }, { run });
const podman =
  (State: unknown): Look =>
  (run) =>
    observePodmanInspect({ inspect: { Id: "c", State } }, { run });
const listed: Look = (run) => observePodmanListEntry({ summary: { Id: "c", State: "created" } }, { run });

/** A gateway over a container that was made and never started: a stop finds nothing there to end. */
function world(record: SandboxRecord, look: Look): { store: MemoryRecordStore; reconciler: Reconciler } {
  const store = new MemoryRecordStore();
  store.put("sb", record);
  const source: ObservationSource = {
    list: () => Promise.resolve({ items: [{ id: "sb", observation: look() }], cursor: null }),
    get: (id, run) => Promise.resolve({ id, observation: look(run) }),
    watch: async function* () {},
  };
  return { store, reconciler: new Reconciler({ store, source, clock: new VirtualClock({ startAt: NOW }) }) };
}

const call = (): Promise<void> => Promise.resolve();

describe("a stop of a container that was never started", () => {
  it.each<[string, Look, SandboxRecord["phase"], string | null]>([
    ["Docker", docker(made), "Provisioning", null],
    ["Docker, start refused", docker(refused), "Error", "ContainerStartFailed"],
    ["Podman", podman(made), "Starting", null],
    ["Podman's list", listed, "Provisioning", null],
    ["Podman, not even set up", podman({ Status: "configured" }), "Provisioning", null],
  ])("ends, and start is open again: %s", async (_name, look, phase, reason) => {
    const { store, reconciler } = world({ phase, desired: "running", since: 0, reason }, look);
    expect(await reconciler.operate("sb", "stop", { call })).toMatchObject({ outcome: "done" });
    await reconciler.sweep();
    expect(store.peek("sb")).toMatchObject({ phase: "Stopped", desired: "stopped" });
    expect(await reconciler.operate("sb", "start", { call })).toMatchObject({
      outcome: "done",
      gate: { route: "resume" },
    });
    expect(store.peek("sb")).toMatchObject({ phase: "Starting", desired: "running" });
    await reconciler.close();
  });

  it.each<[string, Look]>([
    ["Docker", docker(made)],
    ["Podman", podman(made)],
  ])("and without a stop it is on its way: %s", async (_name, look) => {
    const { store, reconciler } = world({ phase: "Provisioning", desired: "running", since: 0 }, look);
    await reconciler.sweep();
    expect(store.peek("sb")?.phase).toBe("Provisioning");
    await reconciler.close();
  });
});
