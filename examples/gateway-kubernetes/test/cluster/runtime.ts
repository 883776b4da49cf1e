import type { Clock } from "slipway";
import { textOf, type JsonObject, type KubeObject } from "../apiserver/object.js";

/** What a container tells its kubelet, never within the call that started it. */
export interface ContainerEvents {
  ready(isReady: boolean): void;
  /** Its end; `reason` where it is not the exit code that tells it (OOMKilled); the end of what it wrote. */
  exited(code: number, reason?: string, log?: string): void;
}

/** One run of one container. */
export interface ContainerRun {
  signal(signal: "SIGTERM" | "SIGKILL"): void;
}

/** What runs containers. */
export interface Runtime {
  /** `volumes` are the claims' folders or names by volume name. */
  start(
    pod: KubeObject,
    container: JsonObject,
    volumes: ReadonlyMap<string, string>,
    events: ContainerEvents,
  ): ContainerRun;
}

/** How a scripted container behaves, in milliseconds after its start. */
export interface Script {
  /** When it becomes ready; null for never. Default 0. */
  readonly readyAfterMs?: number | null;
  /** When it ends by itself; null for never. Default null. */
  readonly exitAfterMs?: number | null;
  readonly exitCode?: number;
  readonly exitReason?: string;
  /** What it does on SIGTERM: end after a time with a code, or null to ignore it. Default: at once with 143. */
  readonly onTerm?: { readonly afterMs: number; readonly code: number } | null;
}

/** Containers that are only phases on a clock. Fakes everything but the order of events. */
export class ScriptedRuntime implements Runtime {
  readonly #clock: Clock;
  readonly #script: (pod: KubeObject, container: JsonObject, run: number) => Script;
  readonly #runs = new Map<string, number>();

  /** `script` gets the number of the run of this container in this pod, from 1. */
  constructor(
    clock: Clock,
    script: (pod: KubeObject, container: JsonObject, run: number) => Script = () => ({}),
  ) {
    this.#clock = clock;
    this.#script = script;
  }

  start(
    pod: KubeObject,
    container: JsonObject,
    _volumes: ReadonlyMap<string, string>,
    events: ContainerEvents,
  ): ContainerRun {
    const key = `${pod.metadata.uid} ${textOf(container["name"])}`;
    const run = (this.#runs.get(key) ?? 0) + 1;
    this.#runs.set(key, run);
    const script = this.#script(pod, container, run);
    const { readyAfterMs = 0, exitAfterMs = null, exitCode = 0, onTerm = { afterMs: 0, code: 143 } } = script;
    const timers: Disposable[] = [];
    let ended = false;
    const later = (ms: number, work: () => void): void => {
      timers.push(this.#clock.schedule(this.#clock.now() + ms, work, { unref: true }));
    };
    const end = (code: number, reason?: string): void => {
      if (ended) return;
      ended = true;
      for (const timer of timers) timer[Symbol.dispose]();
      events.exited(code, reason);
    };
    if (readyAfterMs !== null) later(readyAfterMs, () => events.ready(true));
    if (exitAfterMs !== null) later(exitAfterMs, () => end(exitCode, script.exitReason));
    return {
      signal: (signal) => {
        if (signal === "SIGKILL") later(0, () => end(137));
        else if (onTerm !== null) later(onTerm.afterMs, () => end(onTerm.code));
      },
    };
  }
}
