import { spawn } from "node:child_process";
import type { Clock } from "slipway";
import { isObject, textOf, type JsonObject, type KubeObject } from "../apiserver/object.js";

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

/**
 * Containers as child processes of this one: the container's `command`, `args` and literal `env`, and the folder of each
 * claim in `SLIPWAY_VOLUME_<NAME>`. Fakes image, isolation and network: `image` is only a name, paths are the host's.
 */
export class ProcessRuntime implements Runtime {
  readonly #env: Readonly<Record<string, string>>;

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#env = env;
  }

  start(
    _pod: KubeObject,
    container: JsonObject,
    volumes: ReadonlyMap<string, string>,
    events: ContainerEvents,
  ): ContainerRun {
    const [program = "true", ...rest] = [...words(container["command"]), ...words(container["args"])];
    const env = { ...process.env, ...this.#env, ...literals(container["env"]), ...folders(volumes) };
    const child = spawn(program, rest, { env, stdio: "ignore" });
    let ended = false;
    const end = (code: number, reason?: string): void => {
      if (ended) return;
      ended = true;
      events.exited(code, reason);
    };
    child.on("spawn", () => events.ready(true));
    // A program that cannot be started is exit 128, as a container runtime has it.
    child.on("error", () => end(128, "StartError"));
    child.on("exit", (code, signal) => end(code ?? (signal === "SIGTERM" ? 143 : 137)));
    return { signal: (signal) => void child.kill(signal) };
  }
}

function words(list: unknown): string[] {
  return Array.isArray(list) ? list.map(textOf) : [];
}

function literals(env: unknown): Record<string, string> {
  if (!Array.isArray(env)) return {};
  return Object.fromEntries(
    env.filter(isObject).map((entry) => [textOf(entry["name"]), textOf(entry["value"])]),
  );
}

function folders(volumes: ReadonlyMap<string, string>): Record<string, string> {
  const variable = (name: string): string =>
    `SLIPWAY_VOLUME_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
  return Object.fromEntries(Array.from(volumes, ([name, folder]) => [variable(name), folder]));
}
