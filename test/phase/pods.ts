import { derivePhase, observePod } from "../../src/phase/index.js";

export type Json = Record<string, unknown>;

export function waiting(reason: string): Json {
  return { waiting: { reason } };
}

export function terminated(exitCode: number, reason = "Error", finishedAt = "2026-10-20T11:40:02Z"): Json {
  return { terminated: { exitCode, reason, finishedAt } };
}

export interface Shape {
  readonly phase?: string;
  readonly reason?: string;
  readonly main?: Json;
  readonly init?: Json;
  readonly restartPolicy?: string;
  readonly conditions?: readonly Json[];
  readonly deletionTimestamp?: string;
  readonly started?: boolean;
  readonly ready?: boolean;
}

export function pod(shape: Shape): Json {
  return {
    kind: "Pod",
    metadata: shape.deletionTimestamp === undefined ? {} : { deletionTimestamp: shape.deletionTimestamp },
    spec: {
      restartPolicy: shape.restartPolicy ?? "Never",
      containers: [{ name: "agent" }, { name: "aside" }],
      initContainers: shape.init === undefined ? [] : [{ name: "seed" }],
    },
    status: {
      phase: shape.phase ?? "Pending",
      ...(shape.reason === undefined ? {} : { reason: shape.reason }),
      conditions: shape.conditions ?? [],
      containerStatuses:
        shape.main === undefined
          ? []
          : [
              { name: "aside", state: { running: {} }, ready: true, started: true },
              {
                name: "agent",
                state: shape.main,
                ready: shape.ready ?? false,
                started: shape.started ?? false,
              },
            ],
      initContainerStatuses: shape.init === undefined ? [] : [{ name: "seed", state: shape.init }],
    },
  };
}

export function see(shape: Shape, options = {}): ReturnType<typeof observePod> {
  return observePod({ pod: pod(shape) }, options);
}

export function phaseOf(shape: Shape, phase: "Starting" | "Stopping" = "Starting"): string {
  const desired = phase === "Stopping" ? "stopped" : "running";
  const observation = see(shape, { run: { desired } });
  return derivePhase({ record: { phase, desired, since: 0 }, observation, now: 0 }).phase;
}
