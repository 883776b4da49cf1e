import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { at, isObject, textOf, type JsonObject, type KubeObject } from "../apiserver/object.js";
import type { Handle } from "./handle.js";
import type { ContainerEvents, ContainerRun, Runtime } from "./runtime.js";

export interface MountingRuntimeOptions {
  readonly handle: () => Handle;
  /** Where the files of ConfigMaps are put. */
  readonly root: string;
  /** Host paths of programs that an image would have, by name. */
  readonly programs: Readonly<Record<string, string>>;
}

/**
 * Containers as processes of this machine, with what a kubelet gives them: variables from Secrets, files from
 * ConfigMaps, the folders of claims, a working folder, and nothing of this process's own environment but its PATH.
 *
 * Faked: image, isolation and network. A path below a mount is the host folder's, wherever a word or a variable begins
 * with it. A Secret that is missing gives an empty variable, where a kubelet waits for it.
 */
export class MountingRuntime implements Runtime, Disposable {
  /** What each container wrote, by the uid of its pod. */
  readonly logs = new Map<string, string>();
  readonly #options: MountingRuntimeOptions;
  readonly #live = new Set<number>();

  constructor(options: MountingRuntimeOptions) {
    this.#options = options;
  }

  start(
    pod: KubeObject,
    container: JsonObject,
    claims: ReadonlyMap<string, string>,
    events: ContainerEvents,
  ): ContainerRun {
    const mounts = this.#mounts(pod, container, claims);
    const here = (text: string): string => onHost(text, mounts);
    const [program = "true", ...args] = words(container["command"]);
    const child = spawn(this.#options.programs[program] ?? here(program), args.map(here), {
      cwd: here(textOf(container["workingDir"]) || "/"),
      env: { PATH: process.env["PATH"] ?? "", ...this.#variables(pod, container, here) },
      stdio: ["ignore", "pipe", "pipe"],
      // The group stands for the container: what its first process leaves behind ends with it.
      detached: true,
    });
    const { pid } = child;
    const { uid } = pod.metadata;
    if (pid !== undefined) this.#live.add(pid);
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (data: Buffer) => this.logs.set(uid, (this.logs.get(uid) ?? "") + data.toString()));
    let ended = false;
    const end = (code: number, reason?: string): void => {
      if (ended) return;
      ended = true;
      events.exited(code, reason, this.logs.get(uid));
    };
    child.on("spawn", () => events.ready(true));
    child.on("error", () => end(128, "StartError"));
    // With its first process a container ends, and only then are its streams closed.
    child.on("exit", () => pid !== undefined && this.#kill(pid));
    child.on("close", (code, signal) => end(code ?? (signal === "SIGTERM" ? 143 : 137)));
    return { signal: (signal) => void child.kill(signal) };
  }

  /** Ends whatever still runs. */
  [Symbol.dispose](): void {
    for (const pid of this.#live) this.#kill(pid);
  }

  #kill(pid: number): void {
    this.#live.delete(pid);
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // All of it has ended.
    }
  }

  #mounts(
    pod: KubeObject,
    container: JsonObject,
    claims: ReadonlyMap<string, string>,
  ): readonly (readonly [string, string])[] {
    return records(container["volumeMounts"]).map(({ name, mountPath }) => {
      const folder = claims.get(textOf(name)) ?? this.#configMap(pod, textOf(name));
      return [textOf(mountPath), folder];
    });
  }

  #configMap(pod: KubeObject, volume: string): string {
    const { uid, namespace = "" } = pod.metadata;
    const found = records(pod.spec?.["volumes"]).find(({ name }) => name === volume);
    const map = this.#options.handle().find("configmaps", namespace, textOf(at(found, "configMap.name")));
    const folder = join(this.#options.root, uid, volume);
    mkdirSync(folder, { recursive: true });
    const data = (map as { data?: JsonObject } | null)?.data ?? {};
    for (const [file, text] of Object.entries(data)) writeFileSync(join(folder, file), textOf(text));
    return folder;
  }

  #variables(pod: KubeObject, container: JsonObject, here: (text: string) => string): Record<string, string> {
    const value = (variable: JsonObject): string => {
      const secret = textOf(at(variable, "valueFrom.secretKeyRef.name"));
      // A dollar sign is doubled where it is not to begin a reference.
      if (secret === "") return here(textOf(variable["value"]).replaceAll("$$(", "$("));
      const found = this.#options.handle().find("secrets", pod.metadata.namespace ?? "", secret);
      const data = (found as { data?: JsonObject } | null)?.data ?? {};
      const key = textOf(at(variable, "valueFrom.secretKeyRef.key"));
      return Buffer.from(textOf(data[key]), "base64").toString();
    };
    return Object.fromEntries(
      records(container["env"]).map((variable) => [textOf(variable["name"]), value(variable)]),
    );
  }
}

function onHost(text: string, mounts: readonly (readonly [string, string])[]): string {
  for (const [path, folder] of mounts) {
    if (text === path || text.startsWith(`${path}/`)) return folder + text.slice(path.length);
  }
  return text;
}

function records(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function words(list: unknown): string[] {
  return Array.isArray(list) ? list.map(textOf) : [];
}
