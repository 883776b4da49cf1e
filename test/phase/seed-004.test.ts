import { describe, expect, it } from "vitest";
import {
  allowedOperations,
  observeSandboxResource,
  Reconciler,
  type ExpectedRun,
  type ObservationSource,
  type ObservedSandbox,
  type OperationCall,
  type SandboxRecord,
} from "../../src/phase/index.js";
import { MemoryRecordStore, VirtualClock } from "../../src/testing/index.js";

const NOW = 1_800_000_000_000;

/** The custom resource as a reboot leaves it: scaled to nothing, a condition from before, no pod. */
function resource(
  more: { replicas?: number; annotations?: Record<string, string>; ready?: string } = {},
): unknown {
  return {
    apiVersion: "agents.x-k8s.io/v1alpha1",
    kind: "Sandbox",
    metadata: { name: "sb", uid: "u-1", generation: 4, annotations: more.annotations ?? {} },
    spec: { replicas: more.replicas ?? 0 },
    status: {
      conditions: [
        {
          type: "Ready",
          status: more.ready ?? "False",
          reason: more.ready === "True" ? "DependenciesReady" : "DependenciesNotReady",
          observedGeneration: 4,
        },
      ],
    },
  };
}

class Cluster {
  sandbox: unknown = resource();
  pods: unknown = { kind: "PodList", items: [] };
  lagMs = 0;
  failing = false;

  source(clock: VirtualClock): ObservationSource {
    const look = (run?: ExpectedRun): Promise<ObservedSandbox> => {
      if (this.failing) return Promise.reject(new Error("the cluster does not answer"));
      const observation = observeSandboxResource(
        { sandbox: this.sandbox, pods: this.pods },
        { observedAt: clock.now() - this.lagMs, ...(run === undefined ? {} : { run }) },
      );
      return Promise.resolve({ id: "sb", observation });
    };
    return {
      list: async () => ({ items: [await look()], cursor: null }),
      get: (_id, run) => look(run),
      watch: async function* () {},
    };
  }
}

function world(record: SandboxRecord): {
  cluster: Cluster;
  store: MemoryRecordStore;
  clock: VirtualClock;
  reconciler: Reconciler;
} {
  const clock = new VirtualClock({ startAt: NOW });
  const store = new MemoryRecordStore();
  store.put("sb", record);
  const cluster = new Cluster();
  const reconciler = new Reconciler({ store, source: cluster.source(clock), clock });
  clock.advance(600_000);
  return { cluster, store, clock, reconciler };
}

const stuck: SandboxRecord = {
  phase: "Provisioning",
  desired: "running",
  since: NOW,
  startRequestedAt: NOW,
  instanceId: "i-1",
};

describe("a Provisioning record over a backend with no replica, no pod and no bootstrap (seed 004)", () => {
  it("is startable at the next reconcile, and start reuses identity and workspace", async () => {
    const { reconciler, store } = world(stuck);
    await reconciler.sweep();
    expect(store.peek("sb")).toMatchObject({ phase: "Stopped", reason: "BackendEmpty", instanceId: "i-1" });

    const calls: OperationCall[] = [];
    const outcome = await reconciler.operate("sb", "start", {
      call: (call) => {
        calls.push(call);
        return Promise.resolve();
      },
    });
    expect(outcome.outcome).toBe("done");
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({ id: "sb", route: "resume" });
    expect(store.peek("sb")).toMatchObject({ phase: "Starting", desired: "running", instanceId: "i-1" });
  });

  it("is startable even before the reconcile", async () => {
    const { reconciler, store } = world(stuck);
    const outcome = await reconciler.operate("sb", "start", { call: () => Promise.resolve() });
    expect(outcome).toMatchObject({ outcome: "done", gate: { rule: "start-empty", route: "resume" } });
    expect(store.peek("sb")?.phase).toBe("Starting");
  });

  it("stays Starting when it was Starting, and offers the same start again", async () => {
    const { reconciler, store } = world({ ...stuck, phase: "Starting", expectedInstanceId: "i-2" });
    await reconciler.sweep();
    expect(store.peek("sb")?.phase).toBe("Starting");
    const calls: OperationCall[] = [];
    const outcome = await reconciler.operate("sb", "start", {
      instanceId: "i-3",
      call: (call) => {
        calls.push(call);
        return Promise.resolve();
      },
    });
    expect(outcome.gate).toMatchObject({ allowed: true, route: "retry" });
    expect(calls[0]?.record.expectedInstanceId).toBe("i-2");
  });

  it("does not move while a bootstrap is under way", async () => {
    const { reconciler, store, cluster } = world(stuck);
    cluster.sandbox = resource({ annotations: { "openshell.ai/sandbox-runtime-bootstrapping": "true" } });
    await reconciler.sweep();
    expect(store.peek("sb")?.phase).toBe("Provisioning");
  });

  it.each([
    ["pods that nobody listed", null],
    ["pods that were refused", { kind: "Status", status: "Failure", code: 403 }],
    ["a page of pods that is not the list", { items: [], metadata: { continue: "next" } }],
  ])("does not move on %s", async (_what, pods) => {
    const { reconciler, store, cluster } = world(stuck);
    cluster.pods = pods;
    await reconciler.sweep();
    expect(store.peek("sb")?.phase).toBe("Provisioning");
    expect(store.writes).toBe(0);
  });

  it("does not move on an observation older than the start request", async () => {
    const { reconciler, store, cluster, clock } = world(stuck);
    store.put("sb", { ...stuck, startRequestedAt: clock.now() - 1000 });
    cluster.lagMs = 1001;
    await reconciler.sweep();
    expect(store.peek("sb")?.phase).toBe("Provisioning");
    cluster.lagMs = 1000;
    await reconciler.sweep();
    expect(store.peek("sb")?.phase).toBe("Stopped");
  });

  it("does not move on a failed list", async () => {
    const { reconciler, store, cluster } = world(stuck);
    cluster.failing = true;
    expect(await reconciler.sweep()).toMatchObject({ complete: false, outcomes: [] });
    expect(store.peek("sb")).toBe(stuck);
  });

  it("is Stopped although a controller up to 0.4.6 says Ready at zero replicas", async () => {
    const { reconciler, store, cluster } = world({ ...stuck, phase: "Ready" });
    cluster.sandbox = resource({ ready: "True" });
    await reconciler.sweep();
    expect(store.peek("sb")).toMatchObject({ phase: "Stopped", reason: "BackendEmpty" });
  });

  it("is waiting, not empty, while one replica is asked for and no pod is there yet", async () => {
    const { reconciler, store, cluster } = world(stuck);
    cluster.sandbox = resource({ replicas: 1 });
    await reconciler.sweep();
    const record = store.peek("sb")!;
    expect(record.phase).toBe("Provisioning");
    expect(allowedOperations({ record, by: "user", now: NOW }).start.allowed).toBe(false);
  });
});
