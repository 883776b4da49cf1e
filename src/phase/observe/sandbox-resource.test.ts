import { describe, expect, it } from "vitest";
import { derivePhase } from "../derive-phase.js";
import type { Observation } from "../observation.js";
import type { SandboxRecord } from "../record.js";
import { observePod } from "./pod.js";
import { observeSandboxResource } from "./sandbox-resource.js";
import type { SandboxResourceOptions } from "./sandbox-view.js";

type Json = Record<string, unknown>;

function condition(
  type: string,
  status: string,
  reason: string,
  observedGeneration: number | null = 2,
): Json {
  return { type, status, reason, ...(observedGeneration === null ? {} : { observedGeneration }) };
}

function sandbox(spec: Json, conditions: unknown = [], metadata: Json = {}): Json {
  return {
    apiVersion: "replicas" in spec ? "agents.x-k8s.io/v1alpha1" : "agents.x-k8s.io/v1beta1",
    kind: "Sandbox",
    metadata: { name: "sb", uid: "u-1", generation: 2, ...metadata },
    spec,
    status: { conditions },
  };
}

function pod(
  more: {
    name?: string;
    uid?: string;
    phase?: string;
    deleting?: boolean;
    code?: number;
    ready?: boolean;
    created?: string;
  } = {},
): Json {
  const ended = more.code !== undefined;
  return {
    metadata: {
      name: more.name ?? "sb",
      creationTimestamp: more.created ?? "2026-10-20T09:00:00Z",
      ownerReferences: [{ kind: "Sandbox", name: "sb", uid: more.uid ?? "u-1", controller: true }],
      ...(more.deleting === true ? { deletionTimestamp: "2026-10-20T12:00:00Z" } : {}),
    },
    spec: { restartPolicy: "Never", containers: [{ name: "agent" }] },
    status: {
      phase: more.phase ?? (ended ? (more.code === 0 ? "Succeeded" : "Failed") : "Running"),
      conditions: [{ type: "Ready", status: ended || more.ready === false ? "False" : "True" }],
      containerStatuses: [
        {
          name: "agent",
          ready: !ended,
          started: !ended,
          state: ended
            ? { terminated: { exitCode: more.code, reason: "Error", finishedAt: "2026-10-20T11:40:02Z" } }
            : { running: {} },
        },
      ],
    },
  };
}

const see = (
  resource: Json,
  pods: unknown,
  options: SandboxResourceOptions = {},
): ReturnType<typeof observeSandboxResource> => observeSandboxResource({ sandbox: resource, pods }, options);

const running: SandboxRecord = { phase: "Ready", desired: "running", since: 0 };
const stopping: SandboxRecord = { phase: "Stopping", desired: "stopped", since: 0 };

function phaseOf(record: SandboxRecord, resource: Json, pods: unknown): string {
  const observation = see(resource, pods, { run: { desired: record.desired } });
  return derivePhase({ record, observation, now: 0 }).phase;
}

const RUN = { operatingMode: "Running" };
const SUSPEND = { operatingMode: "Suspended" };
const none = { items: [] };

describe("an agent-sandbox resource, by the table of its releases", () => {
  it.each<[string, SandboxRecord, Json, unknown, string]>([
    [
      "deletionTimestamp",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")], {
        deletionTimestamp: "2026-10-20T12:00:00Z",
      }),
      { items: [pod()] },
      "Deleting",
    ],
    ["suspend, none owned", stopping, sandbox(SUSPEND), none, "Stopped"],
    ["suspend, items null", stopping, sandbox(SUSPEND), { items: null }, "Stopped"],
    ["suspend, array of pods", stopping, sandbox(SUSPEND), [], "Stopped"],
    ["suspend, mode in capitals", stopping, sandbox({ operatingMode: "SUSPENDED" }), none, "Stopped"],
    [
      "suspend, pod goes away",
      stopping,
      sandbox(SUSPEND, [condition("Suspended", "False", "PodTerminating")]),
      { items: [pod({ deleting: true })] },
      "Stopping",
    ],
    [
      "suspend, pod still up",
      stopping,
      sandbox(SUSPEND, [condition("Suspended", "False", "PodNotTerminated")]),
      { items: [pod()] },
      "Stopping",
    ],
    ["suspend, pod ended but there", stopping, sandbox(SUSPEND), { items: [pod({ code: 143 })] }, "Stopping"],
    [
      "suspend, not owned",
      stopping,
      sandbox(SUSPEND, [condition("Suspended", "False", "PodNotOwned")]),
      { items: [pod({ uid: "other" })] },
      "Error",
    ],
    [
      "suspend, pods not asked",
      stopping,
      sandbox(SUSPEND, [condition("Suspended", "True", "PodTerminated")]),
      null,
      "Stopping",
    ],
    [
      "suspend, a page of pods",
      stopping,
      sandbox(SUSPEND),
      { items: [], metadata: { continue: "t" } },
      "Stopping",
    ],
    [
      "ready",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      { items: [pod()] },
      "Ready",
    ],
    [
      "ready, but its pod is gone",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      none,
      "Provisioning",
    ],
    [
      "ready, but its pod is not",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      { items: [pod({ ready: false })] },
      "Provisioning",
    ],
    [
      "ready by an older generation, pod ready",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady", 1)]),
      { items: [pod()] },
      "Ready",
    ],
    [
      "not ready yet",
      running,
      sandbox(RUN, [condition("Ready", "False", "DependenciesNotReady")]),
      none,
      "Provisioning",
    ],
    [
      "controller failing, pod up",
      running,
      sandbox(RUN, [condition("Ready", "False", "ReconcilerError")]),
      { items: [pod()] },
      "Ready",
    ],
    [
      "suspend, two pods still up",
      stopping,
      sandbox(SUSPEND),
      { items: [pod(), pod({ name: "sb-2" })] },
      "Stopping",
    ],
    [
      "an empty deletionTimestamp",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")], { deletionTimestamp: "" }),
      { items: [pod()] },
      "Ready",
    ],
    [
      "ready, pods unknown",
      running,
      sandbox(RUN, [condition("Ready", "False", "ReconcilerError")]),
      null,
      "Ready",
    ],
    [
      "two live pods",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      { items: [pod(), pod({ name: "sb-2" })] },
      "Error",
    ],
    [
      "failed predecessor beside a ready successor",
      running,
      sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]),
      { items: [pod({ code: 1, deleting: true }), pod({ name: "sb-2" })] },
      "Ready",
    ],
    [
      "finished well",
      running,
      sandbox(RUN, [condition("Finished", "True", "PodSucceeded")]),
      { items: [pod({ code: 0 })] },
      "Completed",
    ],
    [
      "finished well, pod gone",
      running,
      sandbox(RUN, [condition("Finished", "True", "PodSucceeded")]),
      none,
      "Completed",
    ],
    [
      "finished badly, pod gone",
      running,
      sandbox(RUN, [condition("Finished", "True", "PodFailed")]),
      none,
      "Error",
    ],
    [
      "finished of an older generation",
      running,
      sandbox(RUN, [condition("Finished", "True", "PodFailed", 1)]),
      none,
      "Provisioning",
    ],
    [
      "finished said, but a pod runs",
      running,
      sandbox(RUN, [
        condition("Finished", "True", "PodFailed"),
        condition("Ready", "True", "DependenciesReady"),
      ]),
      { items: [pod()] },
      "Ready",
    ],
    [
      "finished well, controller failing",
      running,
      sandbox(RUN, [condition("Ready", "False", "ReconcilerError")]),
      { items: [pod({ code: 0 })] },
      "Completed",
    ],
    [
      "expired, pod gone",
      running,
      sandbox(RUN, [condition("Ready", "False", "SandboxExpired")]),
      none,
      "Stopped",
    ],
    [
      "expired, pod left",
      running,
      sandbox(RUN, [condition("Ready", "False", "SandboxExpired")]),
      { items: [pod()] },
      "Stopping",
    ],
    ["no status", running, { metadata: { uid: "u-1" }, spec: {} }, none, "Provisioning"],
    ["replicas null", running, sandbox({ replicas: null }), none, "Provisioning"],
    ["an unknown mode", running, sandbox({ operatingMode: "Hibernating" }), none, "Provisioning"],
    [
      "a stale Suspended next to a ready pod",
      running,
      sandbox(RUN, [
        condition("Suspended", "True", "PodTerminated", null),
        condition("Ready", "True", "DependenciesReady", null),
      ]),
      { items: [pod()] },
      "Ready",
    ],
  ])("%s", (_name, record, resource, pods, phase) => {
    expect(phaseOf(record, resource, pods)).toBe(phase);
  });
});

it("an expired one whose pod is long overdue on its node is unknown, not ready", () => {
  const resource = sandbox(RUN, [condition("Ready", "False", "SandboxExpired")]);
  const observedAt = Date.parse("2026-10-20T13:00:00Z");
  const observation = see(resource, { items: [pod({ deleting: true })] }, { observedAt });
  expect(derivePhase({ record: running, observation, now: observedAt })).toMatchObject({
    phase: "Unknown",
    reason: "NodeLost",
  });
});

describe("an agent-sandbox resource, fact by fact", () => {
  const up = condition("Ready", "True", "AllUp");
  const one = { items: [pod()] };
  const withPod = (status: Json, more: Json = {}): { readonly items: readonly Json[] } => {
    const base = pod();
    const { status: before } = base;
    return { items: [{ ...base, ...more, status: { ...(before as Json), ...status } }] };
  };
  const waits = (reason: string): { readonly items: readonly Json[] } =>
    withPod({
      phase: "Pending",
      conditions: [{ type: "Ready", status: "False" }],
      containerStatuses: [{ name: "agent", state: { waiting: { reason } } }],
    });

  it.each<[string, Json, unknown, Partial<Observation>]>([
    [
      "ready",
      sandbox(RUN, [up]),
      one,
      {
        workload: "present",
        running: true,
        ready: true,
        readiness: "signal",
        suspended: false,
        terminating: false,
      },
    ],
    ["ready, pods not asked", sandbox(RUN, [up]), null, { workload: "unknown", running: null, ready: true }],
    ["ready over no pod", sandbox(RUN, [up]), none, { workload: "absent", running: false, ready: false }],
    [
      "ready over a pod that waits",
      sandbox(RUN, [up]),
      waits("ContainerCreating"),
      { running: false, ready: false },
    ],
    [
      "ready over a pod that is not",
      sandbox(RUN, [up]),
      { items: [pod({ ready: false })] },
      { running: true, ready: false, readiness: "signal" },
    ],
    [
      "ready over a pod that goes away",
      sandbox(RUN, [up]),
      { items: [pod({ deleting: true })] },
      { running: true, ready: false, terminating: true },
    ],
    [
      "not ready over a pod that is",
      sandbox(RUN, [condition("Ready", "False", "DependenciesNotReady")]),
      one,
      { running: true, ready: false, readiness: "signal", failureReason: null, failureClass: null },
    ],
    [
      "of unknown readiness",
      sandbox(RUN, [condition("Ready", "Unknown", "NoWord")]),
      one,
      { running: true, ready: null, readiness: "unreadable", backendReason: "NoWord" },
    ],
    [
      "without a word on readiness",
      sandbox(RUN),
      one,
      { ready: true, readiness: "signal", backendReason: null },
    ],
    ["without a word on readiness, nor a pod", sandbox(RUN), none, { ready: null, readiness: "unreadable" }],
    [
      "ready by an older generation",
      sandbox(RUN, [condition("Ready", "True", "AllUp", 1)]),
      none,
      { ready: null, readiness: "unreadable", behind: true, backendReason: "AllUp" },
    ],
    [
      "ready by an older generation, over a pod that waits",
      sandbox(RUN, [condition("Ready", "True", "AllUp", 1)]),
      waits("ErrImagePull"),
      { ready: false, behind: true, backendReason: "ErrImagePull" },
    ],
    [
      "of a contradiction",
      sandbox(RUN, [up, condition("Ready", "False", "Down")]),
      one,
      { ready: null, readiness: "unreadable", behind: true, backendReason: null, failureClass: "transient" },
    ],
    [
      "of a controller that fails",
      sandbox(RUN, [condition("Ready", "False", "ReconcilerError")]),
      one,
      { ready: false, readiness: "unreadable", failureReason: "BackendError", failureClass: "transient" },
    ],
    [
      "suspended",
      sandbox(SUSPEND, [condition("Suspended", "True", "PodTerminated"), up]),
      none,
      { suspended: true, running: false, ready: false, terminating: false, backendReason: "PodTerminated" },
    ],
    [
      "suspended, with a word of the readiness alone",
      sandbox(SUSPEND, [condition("Ready", "False", "SandboxSuspended", 1)]),
      none,
      { suspended: true, backendReason: "SandboxSuspended" },
    ],
    [
      "being suspended",
      sandbox(SUSPEND, [condition("Suspended", "False", "PodTerminating")]),
      one,
      { suspended: false, running: true, ready: false, terminating: true, failureReason: null },
    ],
    [
      "suspended before its condition says so",
      sandbox(SUSPEND, [condition("Suspended", "False", "PodTerminating")]),
      none,
      { suspended: true, running: false, terminating: false, backendReason: "PodTerminating" },
    ],
    [
      "kept from being suspended",
      sandbox(SUSPEND, [condition("Suspended", "False", "PodNotOwned")]),
      none,
      { suspended: false, failureReason: "OwnershipConflict", failureClass: "terminal" },
    ],
    [
      "kept from a suspension that nobody wants any more",
      sandbox(RUN, [condition("Suspended", "False", "PodNotOwned"), up]),
      one,
      { suspended: false, ready: true, failureReason: null, backendReason: "AllUp" },
    ],
    [
      "suspended while it is removed",
      sandbox(SUSPEND, [], { deletionTimestamp: "2026-10-20T12:00:00Z" }),
      none,
      { deleting: true, suspended: false, terminating: true },
    ],
    [
      "removed",
      sandbox(RUN, [up], { deletionTimestamp: "2026-10-20T12:00:00Z" }),
      one,
      { deleting: true, terminating: true, ready: false },
    ],
    [
      "of a mode that is not known",
      sandbox({ operatingMode: "Hibernating" }),
      none,
      { suspended: null, running: false, terminating: false },
    ],
    [
      "finished, as its controller alone says",
      sandbox(RUN, [condition("Finished", "True", "PodSucceeded")]),
      null,
      {
        completed: true,
        running: false,
        endedBy: "guest",
        failureReason: null,
        backendReason: "PodSucceeded",
      },
    ],
    [
      "failed, as its controller alone says",
      sandbox(RUN, [condition("Finished", "True", "PodFailed")]),
      none,
      {
        completed: true,
        running: false,
        endedBy: "unknown",
        failureReason: "ProcessExited",
        backendReason: "PodFailed",
      },
    ],
    [
      "finished under a stop",
      sandbox(SUSPEND, [condition("Finished", "True", "PodFailed"), up]),
      none,
      { completed: false, suspended: true, failureReason: null, backendReason: "AllUp" },
    ],
    [
      "finished of a mode that is not known",
      sandbox({ operatingMode: "Hibernating" }, [condition("Finished", "True", "PodFailed")]),
      none,
      { completed: false },
    ],
    [
      "over with its pod",
      sandbox(RUN, [condition("Ready", "False", "PodSucceeded")]),
      { items: [pod({ code: 0 })] },
      {
        completed: true,
        exitCode: 0,
        endedBy: "guest",
        finishedAt: Date.parse("2026-10-20T11:40:02Z"),
        failureReason: null,
      },
    ],
    [
      "over with its pod, by a failure",
      sandbox(RUN),
      { items: [pod({ code: 3 })] },
      {
        completed: true,
        exitCode: 3,
        endedBy: "unknown",
        failureReason: "ProcessExited",
        failureClass: "terminal",
      },
    ],
    [
      "expired",
      sandbox(RUN, [condition("Ready", "False", "SandboxExpired")]),
      none,
      { failureReason: "Expired", failureClass: "terminal", terminating: false },
    ],
    [
      "expired, with a pod that failed",
      sandbox(RUN, [condition("Ready", "False", "SandboxExpired")]),
      { items: [pod({ code: 3 })] },
      { failureReason: "Expired", terminating: true },
    ],
    [
      "that says of itself that more than one pod is its own",
      sandbox(RUN, [condition("Ready", "False", "MultiplePods")]),
      one,
      { failureReason: "OwnershipConflict", failureClass: "terminal" },
    ],
    [
      "without a node",
      sandbox(RUN, [condition("PodScheduled", "False", "Unschedulable")]),
      none,
      { failureReason: "Unschedulable", failureClass: "transient" },
    ],
    [
      "without a node for a reason of tomorrow",
      sandbox(RUN, [condition("PodScheduled", "False", "OfTomorrow")]),
      none,
      { failureReason: null, failureClass: null },
    ],
    [
      "without a node under a stop",
      sandbox(SUSPEND, [condition("PodScheduled", "False", "Unschedulable")]),
      none,
      { failureReason: null, failureClass: null },
    ],
    [
      "whose pod waits for a word of tomorrow",
      sandbox(RUN, [condition("Ready", "False", "DependenciesNotReady")]),
      waits("OfTomorrow"),
      { failureReason: null, failureClass: "transient" },
    ],
    [
      "whose pod waits for what may still come",
      sandbox(RUN, [condition("Ready", "False", "DependenciesNotReady")]),
      waits("ErrImagePull"),
      { failureReason: "ImagePullFailed", failureClass: "transient", backendReason: "DependenciesNotReady" },
    ],
    [
      "of a suspension that contradicts itself",
      sandbox(RUN, [condition("Suspended", "True", "A"), condition("Suspended", "False", "B"), up]),
      one,
      { ready: true, behind: true },
    ],
    [
      "of an older suspension, ready",
      sandbox(RUN, [condition("Suspended", "True", "PodTerminated", 1), up]),
      one,
      { ready: true, behind: false },
    ],
    [
      "of an older suspension, not ready",
      sandbox(RUN, [condition("Suspended", "True", "PodTerminated", 1)]),
      none,
      { ready: null, behind: true },
    ],
    [
      "of an older suspension under the next one",
      sandbox(SUSPEND, [condition("Suspended", "True", "PodTerminated", 1)]),
      none,
      { suspended: true, behind: false, backendReason: null },
    ],
  ])("%s", (_name, resource, pods, facts) => {
    expect(see(resource, pods)).toMatchObject({ exists: true, stale: false, ...facts });
  });

  it("shows its conditions, its generation and its run, by its own word before its pod's", () => {
    const labels = { "slipway.dev/instance-id": "i-1" };
    const named = pod();
    const pods = { items: [{ ...named, metadata: { ...(named["metadata"] as Json), labels } }] };
    expect(see(sandbox(RUN, [up]), pods)).toMatchObject({
      generation: 2,
      instanceId: "i-1",
      conditions: [{ type: "Ready", status: "True", reason: "AllUp", observedGeneration: 2 }],
    });
    const annotations = { "slipway.dev/instance-id": "i-2" };
    expect(see(sandbox(RUN, [up], { annotations }), pods).instanceId).toBe("i-2");
    expect(see(sandbox(RUN, [up], { labels: annotations }), none).instanceId).toBe("i-2");
    expect(see(sandbox(RUN, [up]), none).instanceId).toBeNull();
  });

  it("is as stale as the pod that speaks for it", () => {
    const labels = { "slipway.dev/instance-id": "i-1" };
    const named = pod();
    const pods = { items: [{ ...named, metadata: { ...(named["metadata"] as Json), labels } }] };
    expect(see(sandbox(RUN, [up]), pods, { run: { instanceId: "i-2" } }).stale).toBe(true);
  });
});

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

describe("the pods of a sandbox", () => {
  const resource = sandbox(RUN, [condition("Ready", "True", "DependenciesReady")]);
  /** What is seen over a list, in whichever order it comes. */
  const over = (...items: readonly Json[]): Observation => {
    const [observation] = [items, [...items].reverse()].map((list) => see(resource, { items: list }));
    expect(see(resource, { items: [...items].reverse() })).toEqual(observation);
    return observation as Observation;
  };
  const owner = (more: Json): Json => ({
    ...pod(),
    metadata: { name: "sb", ownerReferences: [{ kind: "Sandbox", name: "sb", uid: "u-1", ...more }] },
  });

  it("are those that it controls: no name and no other owner makes one its own", () => {
    expect(over(owner({ controller: true })).workload).toBe("present");
    for (const foreign of [
      owner({ controller: false }),
      owner({}),
      owner({ controller: true, uid: "u-2" }),
      { ...pod(), metadata: { name: "sb", labels: { app: "sb" } } },
    ])
      expect(over(foreign)).toMatchObject({ workload: "absent", running: false });
  });

  it("are of a resource without a uid those of its kind and name, and nobody's without a name", () => {
    const look = (metadata: Json, reference: Json): string =>
      see({ ...resource, metadata }, { items: [owner({ controller: true, ...reference })] }).workload;
    expect(look({ name: "sb" }, {})).toBe("present");
    expect(look({ name: "sb" }, { kind: "SANDBOX" })).toBe("present");
    expect(look({ name: "sb" }, { name: "other" })).toBe("absent");
    expect(look({ name: "sb" }, { kind: "Job" })).toBe("absent");
    expect(look({}, {})).toBe("absent");
    expect(look({}, { name: undefined })).toBe("absent");
  });

  it("speak by the live one, else the one that goes away, else the one that ended", () => {
    const live = pod({ name: "live", created: "2026-10-20T08:00:00Z" });
    const going = pod({ name: "going", deleting: true, created: "2026-10-20T08:30:00Z" });
    const ended = pod({ name: "ended", code: 3 });
    expect(over(live, going, ended)).toMatchObject({ running: true, terminating: false, completed: false });
    expect(over(going, ended)).toMatchObject({ running: true, terminating: true, completed: false });
    expect(over(ended)).toMatchObject({ running: false, completed: true, exitCode: 3 });
  });

  it("speak by the youngest of a kind, else by the first name, else by the uid", () => {
    const at = (name: string, code: number, created: string, uid?: string): Json => {
      const ended = pod({ name, code, created });
      return { ...ended, metadata: { ...(ended["metadata"] as Json), uid } };
    };
    const [early, late] = ["2026-10-20T08:00:00Z", "2026-10-20T09:00:00Z"];
    expect(over(at("a", 3, early), at("b", 4, late)).exitCode).toBe(4);
    expect(over(at("a", 3, late), at("b", 4, early)).exitCode).toBe(3);
    expect(over(at("a", 3, late), at("b", 4, late)).exitCode).toBe(3);
    expect(over(at("a", 3, late, "2"), at("a", 4, late, "1")).exitCode).toBe(4);
    expect(over(at("a", 3, late, "2"), at("a", 4, late)).exitCode).toBe(4);
    expect(over(at("a", 3, late), at("a", 4, "some day")).exitCode).toBe(3);
    const [named, nameless] = [at("a", 3, late), at("a", 4, late)];
    const metadata = { ...(nameless["metadata"] as Json), name: undefined };
    expect(over(named, { ...nameless, metadata }).exitCode).toBe(4);
  });

  it("are in conflict where two are live, and where one is live and others go or ended they are not", () => {
    const live = [pod({ name: "a" }), pod({ name: "b" })] as const;
    expect(over(...live)).toMatchObject({ failureReason: "OwnershipConflict", ready: false });
    const others = [pod({ name: "c", deleting: true }), pod({ name: "d", code: 1 })];
    expect(over(live[0], ...others)).toMatchObject({ failureReason: null, ready: true });
    expect(over(...others, pod({ name: "e", deleting: true })).failureReason).toBeNull();
    expect(over(pod({ name: "d", code: 1 }), pod({ name: "e", code: 1 })).failureReason).toBe(
      "ProcessExited",
    );
  });

  it("of another run are none that lives", () => {
    const old = pod({ name: "old" });
    const labels = { "slipway.dev/instance-id": "i-1" };
    const other = { ...old, metadata: { ...(old["metadata"] as Json), labels } };
    const run = { instanceId: "i-2" };
    for (const items of [
      [other, pod({ name: "new" })],
      [pod({ name: "new" }), other],
    ])
      expect(see(resource, { items }, { run })).toMatchObject({ stale: false, failureReason: null });
  });

  it.each<[string, unknown, string]>([
    ["a list", { items: [] }, "absent"],
    ["a bare array", [], "absent"],
    ["a list without items", { items: null }, "absent"],
    [
      "a list of which nothing remains",
      { items: [], metadata: { remainingItemCount: 0, continue: "" } },
      "absent",
    ],
    ["a page by its token", { items: [], metadata: { continue: "t" } }, "unknown"],
    ["a page by its count", { items: [], metadata: { remainingItemCount: 1 } }, "unknown"],
    ["what was not asked", null, "unknown"],
    ["what is no list", { kind: "PodList" }, "unknown"],
    ["items that are none", { items: {} }, "unknown"],
    ["the API's refusal", { kind: "Status", reason: "Forbidden", items: [] }, "unknown"],
    ["a text", "no pods", "unknown"],
  ])("%s", (_name, pods, workload) => {
    const suspended = workload === "absent";
    expect(see(sandbox(SUSPEND), pods)).toMatchObject({ workload, suspended, failureReason: null });
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
