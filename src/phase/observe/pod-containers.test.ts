import { describe, expect, it } from "vitest";
import { type Json, phaseOf, see, terminated, waiting } from "../../../test/phase/pods.js";
import { observePod } from "./pod.js";

describe("waiting reasons", () => {
  it.each([
    ["ContainerCreating", null, null],
    ["PodInitializing", null, null],
    ["KillContainerError", null, null],
    ["ErrImagePull", "ImagePullFailed", "transient"],
    ["ImagePullBackOff", "ImagePullFailed", "transient"],
    ["ImageInspectError", "ImagePullFailed", "transient"],
    ["RegistryUnavailable", "ImagePullFailed", "transient"],
    ["ErrImageNeverPull", "ImagePullFailed", "transient"],
    ["InvalidImageName", "ImageInvalid", "terminal"],
    ["CreateContainerConfigError", "ContainerConfigInvalid", "transient"],
    ["CreateContainerError", "ContainerStartFailed", "transient"],
    ["RunContainerError", "ContainerStartFailed", "transient"],
    ["CreatePodSandboxError", "ContainerStartFailed", "transient"],
    ["ConfigPodSandboxError", "ContainerStartFailed", "transient"],
    ["CrashLoopBackOff", "CrashLoop", "transient"],
    ["SomethingNew", null, "transient"],
  ])("%s means %s, %s", (reason, failureReason, failureClass) => {
    const observation = see({ main: waiting(reason), restartPolicy: "Always" });
    expect(observation).toMatchObject({
      running: false,
      completed: false,
      failureReason,
      failureClass,
      backendReason: reason,
    });
    expect(phaseOf({ main: waiting(reason) })).toBe(failureClass === "terminal" ? "Error" : "Starting");
  });
});

describe("init containers", () => {
  it("hold the main one up, each for its reason", () => {
    const main = waiting("PodInitializing");
    expect(see({ main, init: waiting("CrashLoopBackOff") })).toMatchObject({
      failureReason: "InitFailed",
      failureClass: "transient",
    });
    expect(see({ main, init: waiting("ImagePullBackOff") })).toMatchObject({
      failureReason: "ImagePullFailed",
    });
    expect(see({ main, init: terminated(2) })).toMatchObject({
      failureReason: "InitFailed",
      completed: false,
    });
    expect(see({ main, init: terminated(2), phase: "Failed" })).toMatchObject({
      failureReason: "InitFailed",
      completed: true,
      exitCode: 2,
    });
    expect(see({ main, init: { running: {} } })).toMatchObject({ failureReason: null, running: false });
  });

  it.each<[string, Json, string | null, string | null]>([
    ["is done", terminated(0, "Completed"), null, "PodInitializing"],
    ["waits for its turn", waiting("PodInitializing"), null, "PodInitializing"],
    ["waits without a word", waiting(""), null, "PodInitializing"],
    ["runs, whatever it says beside", { running: { reason: "Odd" } }, null, "PodInitializing"],
    ["has no state", {}, null, "PodInitializing"],
    ["ended without a code", { terminated: { reason: "Lost" } }, "InitFailed", "Lost"],
    ["waits for a reason of tomorrow", waiting("OfTomorrow"), null, "OfTomorrow"],
    ["waits in an ordinary way", waiting("ContainerCreating"), null, "PodInitializing"],
    ["waits for what has no effect on it", waiting("KillContainerError"), null, "PodInitializing"],
  ])("that %s", (_name, init, failureReason, backendReason) => {
    expect(see({ main: waiting("PodInitializing"), init })).toMatchObject({
      running: false,
      failureReason,
      backendReason,
    });
  });

  it("are gone through in the order of the specification, then of their names", () => {
    const failed = (name: string, reason: string): Json => ({ name, state: terminated(1, reason) });
    const statuses = [
      failed("a", "A"),
      failed("z", "Z"),
      failed("b", "B"),
      { name: "ok", state: terminated(0) },
    ];
    const of = (declared: readonly string[], initContainerStatuses: readonly Json[]): string | null => {
      const spec = { initContainers: declared.map((name) => ({ name })) };
      return observePod({ pod: { spec, status: { initContainerStatuses } } }).backendReason;
    };
    for (const list of [statuses, [...statuses].reverse()]) {
      expect(of(["ok", "z", "b"], list)).toBe("Z");
      expect(of(["ok", "missing"], list)).toBe("A");
      expect(of([], list)).toBe("A");
    }
  });
});

describe("the main container", () => {
  const status = (name: string, state: Json): Json => ({ name, state, ready: false, started: false });

  it("is the annotated one, else the first declared, else the only one there is", () => {
    const statuses = [status("a", { running: {} }), status("b", terminated(3))];
    const spec = { restartPolicy: "Never", containers: [{ name: "b" }, { name: "a" }] };
    const annotations = { "kubectl.kubernetes.io/default-container": "a" };
    const of = (more: Json): ReturnType<typeof observePod> =>
      observePod({ pod: { status: { phase: "Running", containerStatuses: statuses }, ...more } });
    expect(of({ spec }).exitCode).toBe(3);
    expect(of({ spec, metadata: { annotations } })).toMatchObject({ running: true, completed: false });
    // An annotation that names none of the pod's containers is none.
    const stray = { "kubectl.kubernetes.io/default-container": "c" };
    expect(of({ spec, metadata: { annotations: stray } }).exitCode).toBe(3);
    // One that has no status yet is not replaced by another.
    const late = { ...spec, containers: [{ name: "c" }, { name: "a" }] };
    expect(of({ spec: late }).running).toBeNull();
    // Without a specification two statuses say nothing of which one is meant.
    expect(of({}).running).toBeNull();
    expect(
      observePod({ pod: { status: { phase: "Running", containerStatuses: [statuses[0]] } } }).running,
    ).toBe(true);
  });
});
