import { describe, expect, it } from "vitest";
import {
  observeDockerInspect,
  observePodmanInspect,
  observePodmanListEntry,
  observeSandboxResource,
  Reconciler,
  type ExpectedRun,
  type Observation,
  type ObservationSource,
  type OperationOutcome,
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

/** What the run before left, by its name. The driver gives each run objects of its own, or writes its name on them. */
const KEY = "slipway.dev/instance-id";
const container =
  (label: string, Status = "exited"): Look =>
  (run) =>
    observeDockerInspect(
      { inspect: { Id: "c", Config: { Labels: { [KEY]: label } }, State: { Status, ExitCode: 0 } } },
      { run },
    );
const resource =
  (label: string): Look =>
  (run) => {
    const metadata = { name: "sb", uid: "u", generation: 2, annotations: { [KEY]: label } };
    const sandbox = { kind: "Sandbox", metadata, spec: { replicas: 0 } };
    return observeSandboxResource({ sandbox, pods: { items: [] } }, { run });
  };

describe("a stop that overtakes a start before the driver was called", () => {
  const stopped: SandboxRecord = { phase: "Stopped", desired: "stopped", since: 0, instanceId: "run-6" };

  it.each<[string, Look]>([
    ["a container with a label", container("run-6")],
    ["an agent-sandbox with an annotation", resource("run-6")],
  ])("ends over what the run before left: %s", async (_name, look) => {
    const { store, reconciler } = world(stopped, look);
    let lost: Promise<OperationOutcome> | undefined;
    const called = new Promise<void>((resolve) => {
      lost = reconciler.operate("sb", "start", {
        instanceId: "run-7",
        call: ({ signal }) => {
          resolve();
          return new Promise((_resolve, reject) => (signal.onabort = reject));
        },
      });
    });
    await called;
    await reconciler.sweep();
    expect(store.peek("sb")?.phase).toBe("Starting");
    expect(await reconciler.operate("sb", "stop", { call })).toMatchObject({ outcome: "done" });
    expect(await lost).toMatchObject({ outcome: "overtaken" });
    await reconciler.sweep();
    expect(store.peek("sb")).toMatchObject({ phase: "Stopped", instanceId: "run-6" });
    await reconciler.close();
  });

  it("waits for a run that came about in spite of it", async () => {
    const going: SandboxRecord = { ...stopped, phase: "Stopping", expectedInstanceId: "run-7" };
    const { store, reconciler } = world(going, container("run-7", "running"));
    await reconciler.sweep();
    expect(store.peek("sb")?.phase).toBe("Stopping");
    await reconciler.close();
  });

  it("waits for the end of its own run where that has been seen", async () => {
    const going: SandboxRecord = { ...stopped, phase: "Stopping", instanceId: "run-7" };
    const { store, reconciler } = world(going, container("run-6"));
    await reconciler.sweep();
    expect(store.peek("sb")?.phase).toBe("Stopping");
    await reconciler.close();
  });
});
