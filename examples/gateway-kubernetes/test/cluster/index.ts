import type { Clock } from "slipway";
import { ApiServer, type ApiServerOptions } from "../apiserver/index.js";
import { Handle } from "./handle.js";
import { Kubelet } from "./kubelet.js";
import { RELEASES, type Release, type ReleaseTraits } from "./releases.js";
import { ScriptedRuntime, type Runtime } from "./runtime.js";
import { SandboxController } from "./sandbox-controller.js";
import { sandboxDefinition } from "./sandbox-definition.js";
import { convertSandbox } from "./sandbox-conversion.js";
import { Volumes } from "./volumes.js";

export { MountingRuntime } from "./mounting-runtime.js";
export { ScriptedRuntime, type Runtime, type Script } from "./runtime.js";
export { HASH_LABEL, nameHash, SandboxController, SANDBOXES } from "./sandbox-controller.js";
export { RELEASES, type Release, type ReleaseTraits } from "./releases.js";
export { sandboxDefinition } from "./sandbox-definition.js";
export { convertSandbox } from "./sandbox-conversion.js";
export { Handle } from "./handle.js";
export { Kubelet } from "./kubelet.js";
export { Volumes } from "./volumes.js";

export interface ClusterOptions extends Omit<ApiServerOptions, "converters"> {
  readonly clock: Clock;
  readonly release: Release | ReleaseTraits;
  /** What runs containers. Default: scripted ones that are ready at once and end on SIGTERM. */
  readonly runtime?: Runtime;
  readonly images?: Set<string>;
  readonly pullMs?: number;
  /** Where claims have their folders; absent for none. */
  readonly volumesRoot?: string;
  readonly sandboxControllerDelayMs?: number;
}

/** A cluster of one node for tests: API server, agent-sandbox controller, kubelet, volumes. */
export class Cluster implements AsyncDisposable {
  readonly server: ApiServer;
  readonly handle: Handle;
  readonly volumes: Volumes;
  readonly kubelet: Kubelet;
  readonly controller: SandboxController;

  private constructor(server: ApiServer, options: ClusterOptions) {
    const { clock, random, release, runtime, images, pullMs, volumesRoot, sandboxControllerDelayMs } =
      options;
    this.server = server;
    this.handle = new Handle(server.registry, clock);
    this.volumes = new Volumes(this.handle, volumesRoot);
    this.kubelet = new Kubelet({
      handle: this.handle,
      runtime: runtime ?? new ScriptedRuntime(clock),
      volumes: this.volumes,
      random,
      ...(images === undefined ? {} : { images }),
      ...(pullMs === undefined ? {} : { pullMs }),
    });
    const delay = sandboxControllerDelayMs === undefined ? {} : { delayMs: sandboxControllerDelayMs };
    this.controller = new SandboxController({ handle: this.handle, release, random, ...delay });
  }

  static async start(options: ClusterOptions): Promise<Cluster> {
    const traits = typeof options.release === "string" ? RELEASES[options.release] : options.release;
    const definition = sandboxDefinition(
      traits.version === "v1alpha1" ? ["v1alpha1"] : ["v1alpha1", "v1beta1"],
    );
    const server = await ApiServer.start({
      ...options,
      objects: [definition, ...(options.objects ?? [])],
      converters: { [definition.metadata.name]: convertSandbox },
    });
    return new Cluster(server, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.controller[Symbol.dispose]();
    this.kubelet[Symbol.dispose]();
    this.volumes[Symbol.dispose]();
    await this.server[Symbol.asyncDispose]();
  }
}
