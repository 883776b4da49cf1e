import { textOf, type JsonObject } from "../apiserver/object.js";
import type { ContainerFacts, ContainerState } from "./pod-status.js";
import type { ContainerRun } from "./runtime.js";

/** One container as the kubelet drives it. */
export interface Driven {
  readonly spec: JsonObject;
  state: ContainerState;
  last: ContainerState | null;
  restarts: number;
  /** The live run, null between runs. */
  run: ContainerRun | null;
  /** Failed pulls or restarts in a row, for the backoff. */
  failures: number;
}

export function driven(spec: JsonObject): Driven {
  const state: ContainerState = { kind: "waiting", reason: "ContainerCreating" };
  return { spec, state, last: null, restarts: 0, run: null, failures: 0 };
}

export function factsOf({ spec, state, last, restarts }: Driven): ContainerFacts {
  return { name: textOf(spec["name"]), image: textOf(spec["image"]), restarts, state, last };
}

/** 10 s, doubling, at most five minutes: for pulls and for restarts. */
export function backoffMs(failures: number): number {
  return Math.min(300_000, 10_000 * 2 ** Math.max(0, failures - 1));
}

export function endReason(code: number, reason: string | undefined): string {
  return reason ?? (code === 0 ? "Completed" : "Error");
}
