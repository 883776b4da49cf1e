import { at, textOf, type JsonObject, type KubeObject } from "../apiserver/object.js";
import { conditionsOf, stamped, type Claim } from "./conditions.js";
import type { ReleaseTraits } from "./releases.js";

/** What the controller sees of one sandbox when it computes the status. */
export interface Seen {
  readonly sandbox: KubeObject;
  readonly running: boolean;
  /** The pod of the sandbox's name, whoever owns it. */
  readonly pod: KubeObject | null;
  readonly podOwned: boolean;
  /** Pods that this sandbox controls. */
  readonly owned: number;
  readonly hasService: boolean;
  readonly error: string | null;
  readonly expired: boolean;
  readonly selector: string;
}

const ENDS: Readonly<Record<string, string>> = { Succeeded: "PodSucceeded", Failed: "PodFailed" };

function phase(pod: KubeObject | null): string {
  return textOf(at(pod, "status.phase"));
}

function isReady(pod: KubeObject): boolean {
  return (
    phase(pod) === "Running" &&
    conditionsOf(pod.status).some((condition) => condition.type === "Ready" && condition.status === "True")
  );
}

function ready(traits: ReleaseTraits, seen: Seen): Claim {
  const claim = (status: "True" | "False", reason: string, message: string): Claim => ({
    type: "Ready",
    status,
    reason,
    message,
  });
  const { pod, running, error, hasService } = seen;
  if (seen.expired) return claim("False", "SandboxExpired", "Sandbox has expired");
  if (error !== null) return claim("False", "ReconcilerError", `Error seen: ${error}`);
  if (traits.mirrorsPod && seen.owned > 1)
    return claim("False", "MultiplePods", `${seen.owned} pods are owned by this sandbox`);
  const service = hasService ? "; Service exists" : "; Service does not exist";
  const served = hasService || !traits.alwaysService;
  if (!running) {
    if (!traits.readyWhenStopped) return claim("False", "SandboxSuspended", "Sandbox is suspended");
    // The quirk: the controller drops the pod from its view as soon as it has asked for its deletion.
    return claim(
      served ? "True" : "False",
      served ? "DependenciesReady" : "DependenciesNotReady",
      `Pod does not exist, replicas is 0${service}`,
    );
  }
  if (pod === null) return claim("False", "DependenciesNotReady", `Pod does not exist${service}`);
  const end = ENDS[phase(pod)];
  if (end !== undefined && traits.readyTellsEnd)
    return claim("False", end, `Pod has ended with phase ${phase(pod)}`);
  if (isReady(pod) && served) return claim("True", "DependenciesReady", `Pod is Ready${service}`);
  const told =
    phase(pod) === "Running" ? "Pod is Running but not Ready" : `Pod exists with phase: ${phase(pod)}`;
  return claim("False", "DependenciesNotReady", told + service);
}

function suspended(traits: ReleaseTraits, seen: Seen): Claim[] {
  const claim = (status: Claim["status"], reason: string, message: string): Claim[] => [
    { type: "Suspended", status, reason, message },
  ];
  const { running, pod, error } = seen;
  if (traits.suspended === "absent") return [];
  if (running) {
    if (traits.suspended === "always") return claim("False", "NotSuspended", "Sandbox is not suspended");
    return conditionsOf(seen.sandbox.status).filter((condition) => condition.type === "Suspended");
  }
  const always = traits.suspended === "always";
  if (error !== null && always) return claim("Unknown", "PodStateUnknown", error);
  if (pod === null) return claim("True", "PodTerminated", "Pod has been terminated");
  if (!seen.podOwned && always)
    return claim("False", "PodNotOwned", `Pod ${pod.metadata.name} is not owned by this sandbox`);
  return claim("False", traits.terminatingReason, "Pod has not been terminated yet");
}

function scheduled(pod: KubeObject): Claim {
  const own = conditionsOf(pod.status).find((condition) => condition.type === "PodScheduled");
  if (own === undefined)
    return { type: "PodScheduled", status: "Unknown", reason: "PodSchedulingUnknown", message: "" };
  return {
    type: "PodScheduled",
    status: own.status,
    reason: own.reason ?? "PodScheduled",
    message: own.message ?? "",
  };
}

/** The status that a release publishes for what it sees. Pure. */
export function sandboxStatus(traits: ReleaseTraits, seen: Seen, now: string): JsonObject {
  const { sandbox, running } = seen;
  const pod = running && seen.podOwned ? seen.pod : null;
  const end = ENDS[phase(pod)];
  const claims: Claim[] = [ready(traits, seen), ...(seen.expired ? [] : suspended(traits, seen))];
  if (traits.finished && end !== undefined)
    claims.push({
      type: "Finished",
      status: "True",
      reason: end,
      message: `Pod has ended with phase ${phase(pod)}`,
    });
  if (traits.mirrorsPod && pod !== null) claims.push(scheduled(pod));
  const observedGeneration = sandbox.metadata.generation ?? 0;
  const current = claims.map((claim) =>
    claim.type === "Suspended" && "lastTransitionTime" in claim ? claim : { ...claim, observedGeneration },
  );
  const ip = at(pod, "status.podIP");
  const status: Record<string, unknown> = { conditions: stamped(current, conditionsOf(sandbox.status), now) };
  if (pod !== null) status["selector"] = seen.selector;
  if (typeof ip === "string") status["podIPs"] = [ip];
  if (seen.hasService) {
    status["service"] = sandbox.metadata.name;
    status["serviceFQDN"] = `${sandbox.metadata.name}.${sandbox.metadata.namespace ?? ""}.svc.cluster.local`;
  }
  // v1alpha1 leaves a count of zero out.
  if (traits.version === "v1alpha1" && pod !== null) status["replicas"] = 1;
  if (traits.version === "v1beta1" && pod?.spec?.["nodeName"] !== undefined)
    status["nodeName"] = pod.spec["nodeName"];
  return status as JsonObject;
}
