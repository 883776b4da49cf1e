import { describe, expect, it } from "vitest";
import { observeDockerInspect, observeOpenShellStatus, observePod, observeSandboxResource } from "./index.js";
import { messageWith } from "./backend-message.js";

describe("the backend's own text", () => {
  it("is the one that came with the word that decided, and of no other word", () => {
    const evidence = [
      { reason: "A", message: null },
      null,
      { reason: "B", message: "b" },
      { reason: "A", message: "a" },
    ];
    expect(messageWith("A", evidence)).toBe("a");
    expect(messageWith("C", evidence)).toBeNull();
    expect(messageWith(null, evidence)).toBeNull();
    expect(messageWith("A", [{ reason: "A", message: "" }, ...evidence])).toBe("a");
    expect(messageWith("A", [{ reason: "A", message: "" }])).toBeNull();
    expect(messageWith(null, [{ reason: null, message: "x" }])).toBeNull();
    expect(messageWith("", [{ reason: "", message: "x" }])).toBeNull();
  });

  it("comes with a pod's waiting word, its end, and a resource that shows the pod's word", () => {
    const message = 'Back-off pulling image "nope:1"';
    const pod = {
      kind: "Pod",
      metadata: { name: "sb", ownerReferences: [{ uid: "u", controller: true }] },
      spec: { containers: [{ name: "main" }] },
      status: {
        phase: "Pending",
        containerStatuses: [{ name: "main", state: { waiting: { reason: "ImagePullBackOff", message } } }],
      },
    };
    expect(observePod({ pod })).toMatchObject({ backendReason: "ImagePullBackOff", message });
    const sandbox = { kind: "Sandbox", metadata: { uid: "u" }, spec: { replicas: 1 } };
    expect(observeSandboxResource({ sandbox, pods: { items: [pod] } })).toMatchObject({ message });
    const evicted = { ...pod, status: { phase: "Failed", reason: "Evicted", message: "low on memory" } };
    expect(observePod({ pod: evicted })).toMatchObject({
      backendReason: "Evicted",
      message: "low on memory",
    });
  });

  it("comes with a condition's word", () => {
    const conditions = [{ type: "Ready", status: "False", reason: "ReconcilerError", message: "no quota" }];
    const sandbox = { kind: "Sandbox", metadata: { uid: "u" }, spec: {}, status: { conditions } };
    expect(observeSandboxResource({ sandbox, pods: null }).message).toBe("no quota");
    expect(observeOpenShellStatus({ status: { conditions } }).message).toBe("no quota");
  });

  it("is what the engine says of a start that failed", () => {
    const Error = 'exec: "nope": executable file not found in $PATH';
    const inspect = { State: { Status: "created", ExitCode: 127, Error } };
    expect(observeDockerInspect({ inspect })).toMatchObject({
      failureReason: "ContainerStartFailed",
      message: Error,
    });
    expect(observeDockerInspect({ inspect: { State: { Status: "running", Error: "" } } }).message).toBeNull();
  });
});
