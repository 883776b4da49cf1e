import type { InstanceRef, SandboxRef } from "@slipway-examples/gateway-core";

/** Labels of everything that the driver makes. A later gateway process finds it by them, and only by them. */
export const LABEL = {
  gateway: "slipway.dev/gateway",
  sandbox: "slipway.dev/sandbox-id",
  name: "slipway.dev/sandbox-name",
  instance: "slipway.dev/instance-id",
  /** `attempt.run`: which of two starts came later. */
  start: "slipway.dev/start",
} as const;

export type Labels = Readonly<Record<string, string>> | null | undefined;

export function sandboxLabels(gateway: string, sandbox: SandboxRef): Record<string, string> {
  return { [LABEL.gateway]: gateway, [LABEL.sandbox]: sandbox.id, [LABEL.name]: sandbox.name };
}

export function runLabels(
  gateway: string,
  sandbox: SandboxRef,
  instance: InstanceRef,
): Record<string, string> {
  const start = `${instance.attemptNumber}.${instance.run}`;
  return { ...sandboxLabels(gateway, sandbox), [LABEL.instance]: instance.id, [LABEL.start]: start };
}

/** A container's name tells its run, so that two gateways that both start one run meet at the engine. */
export function containerName(sandbox: SandboxRef, instance: InstanceRef): string {
  return `slipway-${sandbox.id}-${instance.attemptNumber}.${instance.run}`;
}

export function workspaceName(sandbox: SandboxRef): string {
  return `slipway-${sandbox.id}-workspace`;
}

/** The filter that finds this gateway's objects, or those of one sandbox. */
export function markedWith(gateway: string, sandbox?: SandboxRef): { label: string[] } {
  const label = [`${LABEL.gateway}=${gateway}`];
  if (sandbox !== undefined) label.push(`${LABEL.sandbox}=${sandbox.id}`);
  return { label };
}

export type Start = Pick<InstanceRef, "attemptNumber" | "run">;

/** The start that an object says it belongs to; one without a readable mark is older than all others. */
export function startOf(labels: Labels): Start {
  const [attemptNumber = 0, run = 0] = (labels?.[LABEL.start] ?? "").split(".").map(Number);
  return { attemptNumber: attemptNumber || 0, run: run || 0 };
}

/** Sorts later starts first. */
export function laterFirst(a: Start, b: Start): number {
  return b.attemptNumber - a.attemptNumber || b.run - a.run;
}

export function isBefore(a: Start, b: Start): boolean {
  return laterFirst(a, b) > 0;
}
