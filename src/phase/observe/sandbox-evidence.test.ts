import { describe, expect, it } from "vitest";
import {
  condition,
  type Json,
  none,
  pod,
  RUN,
  sandbox,
  see,
  SUSPEND,
} from "../../../test/phase/sandbox-resources.js";
import { derivePhase } from "../derive-phase.js";
import { observePod } from "./pod.js";

describe("the intent of a resource", () => {
  const of = (spec: Json, version: string): Json => ({
    ...sandbox(spec),
    apiVersion: `agents.x-k8s.io/${version}`,
  });
  it.each<[string, Json, string, boolean | null]>([
    ["a mode", { operatingMode: "Suspended" }, "v1beta1", true],
    ["a mode beside the replicas of before", { operatingMode: "Running", replicas: 0 }, "v1beta1", false],
    ["replicas", { replicas: 0 }, "v1alpha1", true],
    ["replicas, where a mode is not known yet", { operatingMode: "Running", replicas: 0 }, "v1alpha1", true],
    ["a mode in an older version, without replicas", { operatingMode: "Suspended" }, "v1alpha1", true],
    ["a mode that is empty", { operatingMode: "", replicas: 0 }, "v1beta1", true],
    ["one replica", { replicas: 1 }, "v1alpha1", false],
    ["nothing, which means one replica", {}, "v1alpha1", false],
    ["a mode of tomorrow", { operatingMode: "Hibernating" }, "v1beta1", null],
  ])("is %s", (_name, spec, version, suspended) => {
    expect(see(of(spec, version), none).suspended).toBe(suspended);
  });
});

describe("evidence", () => {
  it("of twins is settled by generation, then time, never by place", () => {
    const old = {
      ...condition("Ready", "True", "DependenciesReady", 1),
      lastTransitionTime: "2026-10-20T11:00:00Z",
    };
    const now = {
      ...condition("Ready", "False", "DependenciesNotReady", 2),
      lastTransitionTime: "2026-10-20T10:00:00Z",
    };
    const later = { ...now, reason: "ReconcilerError", lastTransitionTime: "2026-10-20T10:30:00Z" };
    const never = { ...now, reason: "MultiplePods", lastTransitionTime: "0001-01-01T00:00:00Z" };
    for (const list of [
      [old, now, later, never],
      [never, later, now, old],
      [later, never, old, now],
    ])
      expect(see(sandbox(RUN, list), none)).toMatchObject({
        ready: false,
        failureReason: "BackendError",
        backendReason: "ReconcilerError",
      });
    const equal = [now, { ...now }];
    expect(see(sandbox(RUN, equal), none)).toMatchObject({ ready: false, behind: false });
  });

  it("of a bootstrap is the driver's mark, whatever it is called", () => {
    const marked = (value: unknown, key = "openshell.ai/sandbox-runtime-bootstrapping"): Json =>
      sandbox({ replicas: 0 }, [], { annotations: { [key]: value } });
    expect(see(marked("true"), none).bootstrapping).toBe(true);
    expect(see(marked(""), none).bootstrapping).toBe(true);
    for (const no of ["False", "false", false, null, undefined])
      expect(see(marked(no), none).bootstrapping).toBe(false);
    expect(see(marked("1", "acme.io/boot"), none).bootstrapping).toBe(false);
    expect(see(marked("1", "acme.io/boot"), none, { bootstrapKey: "acme.io/boot" }).bootstrapping).toBe(true);
  });

  it("of scheduling and unknown words leaves waiting possible", () => {
    expect(see(sandbox(RUN, [condition("PodScheduled", "False", "Unschedulable")]), none)).toMatchObject({
      failureReason: "Unschedulable",
      failureClass: "transient",
    });
    expect(see(sandbox(RUN, [condition("Ready", "False", "FluxTooHigh")]), none)).toMatchObject({
      failureReason: null,
      failureClass: "transient",
    });
  });

  it("of an owner without a uid falls back to its kind and name", () => {
    const anonymous = { metadata: { name: "sb" }, spec: { operatingMode: "Running" } };
    expect(see(anonymous, { items: [pod()] }).workload).toBe("present");
    expect(
      see(anonymous, {
        items: [{ metadata: { ownerReferences: [{ kind: "Job", name: "sb", controller: true }] } }],
      }).workload,
    ).toBe("absent");
  });

  it("survives null items everywhere", () => {
    const odd = { items: [null, 1, "x", [], pod(), { metadata: null }] };
    expect(
      see(sandbox(RUN, [null, 7, { type: null }, condition("Ready", "True", "DependenciesReady")]), odd),
    ).toMatchObject({ running: true, ready: true });
  });

  it("that is the API's refusal in place of an object is no object", () => {
    const refusal = (reason: string, code: number): Json => ({
      kind: "Status",
      status: "Failure",
      reason,
      code,
      details: { name: "sb" },
    });
    expect(see(refusal("NotFound", 404), none).exists).toBe(false);
    expect(see(refusal("Forbidden", 403), none).exists).toBeNull();
    expect(observePod({ pod: refusal("NotFound", 404) }).exists).toBe(false);
    expect(observePod({ pod: refusal("Timeout", 504) }).exists).toBeNull();
  });

  it("of a list that says that more remains is a page", () => {
    const page = { items: [], metadata: { remainingItemCount: 2 } };
    expect(see(sandbox(SUSPEND), page)).toMatchObject({ workload: "unknown", suspended: false });
    expect(see(sandbox(SUSPEND), { items: [pod()], metadata: { continue: "t" } }).workload).toBe("present");
    expect(see(sandbox(SUSPEND), { items: "many" }).workload).toBe("unknown");
  });

  it.each(["PodSucceeded", "PodFailed"])(
    "of an end before the start was asked for is the previous run's: %s",
    (word) => {
      const finished = (more: Json): Json =>
        sandbox(RUN, [{ ...condition("Finished", "True", word, null), ...more }]);
      const starting = { phase: "Starting", desired: "running", since: 0 } as const;
      const run = { startRequestedAt: Date.parse("2026-10-20T11:40:03.200Z") };
      for (const pods of [{ items: [] }, null]) {
        const before = see(finished({ lastTransitionTime: "2026-10-20T11:40:02Z" }), pods, { run });
        expect(before).toMatchObject({ completed: false, backendReason: null });
        expect(derivePhase({ record: starting, observation: before, now: 1 }).phase).toBe("Starting");
        for (const lastTransitionTime of ["2026-10-20T11:40:03Z", "2026-10-20T11:41:00Z", null])
          expect(see(finished({ lastTransitionTime }), pods, { run }).completed).toBe(true);
      }
    },
  );

  it.each(["PodSucceeded", "PodFailed"])(
    "of an end is this run's by its generation, where the clocks differ by seconds: %s",
    (word) => {
      const lastTransitionTime = "2026-10-20T11:40:02Z";
      const run = { startRequestedAt: Date.parse("2026-10-20T11:40:05.200Z") };
      const pods = { items: [] };
      const at = { ...condition("Finished", "True", word, null), lastTransitionTime };
      const completed = (resource: Json, options: Json): unknown => see(resource, pods, options).completed;
      const generation = (sandbox(RUN)["metadata"] as Json)["generation"] as number;
      const current = sandbox(RUN, [{ ...at, observedGeneration: generation }]);
      expect(completed(current, { run })).toBe(true);
      // A run is started again without a change of the specification, which numbers nothing anew.
      const before = Date.parse(lastTransitionTime);
      const started = (afterMs: number): Json => ({ run: { startRequestedAt: before + afterMs } });
      expect(completed(current, started(5_999))).toBe(true);
      expect(completed(current, started(6_000))).toBe(false);
      expect(completed(current, { run: { startRequestedAt: before + 6_000, confirmed: true } })).toBe(true);
      const undated = { ...at, observedGeneration: generation, lastTransitionTime: null };
      expect(completed(sandbox(RUN, [undated]), started(6_000))).toBe(true);
      // Without a generation on either side the time decides.
      expect(completed(sandbox(RUN, [at]), { run })).toBe(false);
      const unnumbered = {
        ...current,
        metadata: { ...(current["metadata"] as Json), generation: undefined },
      };
      expect(completed(unnumbered, { run })).toBe(false);
      // Of an older generation it is about another specification, at any time.
      expect(completed(sandbox(RUN, [{ ...at, observedGeneration: generation - 1 }]), {})).toBe(false);
      // The resource is told the next run's instance before its controller says anything of that run.
      const annotations = { "slipway.dev/instance-id": "i-2" };
      expect(completed(sandbox(RUN, [at], { annotations }), { run: { ...run, instanceId: "i-2" } })).toBe(
        false,
      );
    },
  );

  it("of another instance is dropped", () => {
    const resource = sandbox(RUN, [condition("Ready", "True", "DependenciesReady")], {
      annotations: { "slipway.dev/instance-id": "i-1" },
    });
    expect(see(resource, { items: [pod()] }, { run: { instanceId: "i-2" } }).stale).toBe(true);
  });
});
