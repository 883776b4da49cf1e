import {
  PermanentDriverError,
  type InstanceRef,
  type SandboxRef,
  type WorkContext,
} from "@slipway-examples/gateway-core";
import type Docker from "dockerode";
import { setTimeout as delay } from "node:timers/promises";
import { statusOf, unless } from "./engine.js";
import {
  isBefore,
  LABEL,
  laterFirst,
  markedWith,
  sandboxLabels,
  startOf,
  workspaceName,
  type Labels,
  type Start,
} from "./marks.js";

/** Answers that are no failure: gone already, already so, or on its way. */
const GONE = 404;
const ALREADY = 304;
const IN_PROGRESS = 409;

const POLL_MS = 100;

/** What the engine keeps of this gateway's sandboxes: a workspace volume each, and a container for each run. */
export class SandboxObjects {
  readonly #docker: Docker;
  readonly #gateway: string;

  constructor(docker: Docker, gateway: string) {
    this.#docker = docker;
    this.#gateway = gateway;
  }

  /** Containers of one sandbox, or of all, later starts first. */
  async containers(signal: AbortSignal, sandbox?: SandboxRef): Promise<readonly Docker.ContainerInfo[]> {
    const filters = markedWith(this.#gateway, sandbox);
    const found = await this.#docker.listContainers({ all: true, filters, abortSignal: signal });
    return found.sort((a, b) => laterFirst(startOf(a.Labels), startOf(b.Labels)));
  }

  /** Every sandbox that the engine has something of, with the container of its latest start; `null` for none. */
  async latest(signal: AbortSignal): Promise<ReadonlyMap<string, Docker.ContainerInfo | null>> {
    const filters = markedWith(this.#gateway);
    const containers = await this.containers(signal);
    const { Volumes } = await this.#docker.listVolumes({ filters, abortSignal: signal });
    const owners = Volumes.flatMap(({ Labels }) => sandboxIdOf(Labels) ?? []);
    const latest = new Map<string, Docker.ContainerInfo | null>(owners.map((id) => [id, null]));
    for (const container of containers.toReversed()) {
      const id = sandboxIdOf(container.Labels);
      if (id !== null) latest.set(id, container);
    }
    return latest;
  }

  async hasWorkspace(sandbox: SandboxRef, signal: AbortSignal): Promise<boolean> {
    try {
      const volume = this.#docker.getVolume(workspaceName(sandbox));
      const found = await volume.inspect({ abortSignal: signal });
      return isOf(found.Labels, this.#gateway, sandbox);
    } catch (error) {
      if (statusOf(error) === GONE) return false;
      throw error;
    }
  }

  /** Makes the workspace when it is not there. The engine answers with the old one when there is one of that name. */
  async ensureWorkspace(sandbox: SandboxRef): Promise<void> {
    const name = workspaceName(sandbox);
    await this.#docker.createVolume({ Name: name, Labels: sandboxLabels(this.#gateway, sandbox) });
    const { Labels } = await this.#docker.getVolume(name).inspect();
    if (!isOf(Labels, this.#gateway, sandbox)) {
      throw new PermanentDriverError("OwnershipConflict", `The volume ${name} belongs to somebody else`);
    }
  }

  async inspect(id: string, signal: AbortSignal): Promise<Docker.ContainerInspectInfo | null> {
    try {
      return await this.#docker.getContainer(id).inspect({ abortSignal: signal });
    } catch (error) {
      if (statusOf(error) === GONE) return null;
      throw error;
    }
  }

  /**
   * Asks what runs to end, of the starts up to the given one or of all, and kills it after the grace. Containers stay,
   * with their exit codes and output.
   */
  async stop(sandbox: SandboxRef, graceMs: number, { signal, upTo }: WorkContext): Promise<void> {
    // A moment longer than the workload gets, so that its end is the supervisor's to report.
    const t = Math.ceil(graceMs / 1000) + 1;
    const all = await this.containers(signal, sandbox);
    const found = all.filter(({ Labels }) => upTo === undefined || !isBefore(upTo, startOf(Labels)));
    const running = found.filter(({ State }) => !["created", "exited", "dead", "removing"].includes(State));
    await Promise.all(
      running.map(async ({ Id, State }) => {
        const container = this.#docker.getContainer(Id);
        // What is paused does not hear that it is to end, and Podman refuses to stop it. Should this not work, or not
        // be needed any more, the stop says so.
        if (State === "paused") await container.unpause({ abortSignal: signal }).catch(() => undefined);
        await unless([GONE, ALREADY], container.stop({ t, abortSignal: signal }));
      }),
    );
  }

  /** Kills and removes the containers of these starts, or all. */
  async removeContainers(
    sandbox: SandboxRef,
    signal: AbortSignal,
    isMeant: (start: Start) => boolean = () => true,
  ): Promise<void> {
    const found = await this.containers(signal, sandbox);
    const old = found.filter(({ Labels }) => isMeant(startOf(Labels)));
    await Promise.all(old.map(({ Id }) => this.removeContainer(Id, signal)));
  }

  /** Resolves when it is gone: somebody else's removal that is under way may still fail, and then this one is due. */
  async removeContainer(id: string, signal: AbortSignal): Promise<void> {
    const options = { force: true, v: true, abortSignal: signal };
    for (;;) {
      try {
        await this.#docker.getContainer(id).remove(options);
        return;
      } catch (error) {
        if (statusOf(error) === GONE) return;
        if (statusOf(error) !== IN_PROGRESS) throw error;
        await delay(POLL_MS, undefined, { signal });
      }
    }
  }

  /** Removes the workspace. Fails while a container still uses it. */
  async removeWorkspace(sandbox: SandboxRef, signal: AbortSignal): Promise<void> {
    if (!(await this.hasWorkspace(sandbox, signal))) return;
    const volume = this.#docker.getVolume(workspaceName(sandbox));
    await unless([GONE], volume.remove({ abortSignal: signal }));
  }

  /**
   * Stops a start that another one has overtaken: the gateway that asked for it lost its lease and does not know yet.
   * It must not end what the newer one started.
   */
  async refuseOvertaken(sandbox: SandboxRef, start: InstanceRef, signal: AbortSignal): Promise<void> {
    const [latest] = await this.containers(signal, sandbox);
    if (latest !== undefined && isBefore(start, startOf(latest.Labels))) {
      const by = startOf(latest.Labels);
      throw new Error(
        `run ${start.run} of attempt ${start.attemptNumber} was overtaken by run ${by.run} of attempt ${by.attemptNumber}`,
      );
    }
  }
}

export function sandboxIdOf(labels: Labels): string | null {
  return labels?.[LABEL.sandbox] ?? null;
}

function isOf(labels: Labels, gateway: string, sandbox: SandboxRef): boolean {
  return labels?.[LABEL.gateway] === gateway && sandboxIdOf(labels) === sandbox.id;
}
