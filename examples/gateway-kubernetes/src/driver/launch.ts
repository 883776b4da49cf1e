import type { DriverProgress, Json, LaunchContext, LaunchRequest } from "@slipway-examples/gateway-core";
import { PermanentDriverError } from "@slipway-examples/gateway-core";
import { ApiError, isConflict, isStatus } from "../api/api-error.js";
import type { KubeClient } from "../api/kube-client.js";
import { nameOf, textAt, uidOf, type Plain } from "../api/plain.js";
import { BOOTSTRAP_KEY, SECRET_KEY } from "../resource/names.js";
import { intentOf, type SandboxVersion } from "../resource/sandbox-api.js";
import { newSandbox, startPatch } from "../resource/sandbox-manifest.js";
import { deleteSecret, secretName, writeSecret } from "../resource/token-secret.js";
import { nextLaunchStep, type LaunchStep } from "./launch-step.js";
import type { KubernetesOptions } from "./options.js";
import { podProgress } from "./owned-pods.js";
import type { SandboxObjects } from "./sandbox-objects.js";

export interface LaunchTools {
  readonly client: KubeClient;
  readonly objects: SandboxObjects;
  /** Waits for news of the sandbox, or for a while that grows with the number of waits in a row. */
  wait(waits: number, signal: AbortSignal): Promise<void>;
}

/** Brings one start about, step by step, each decided on what is there. */
export class Launch {
  readonly #tools: LaunchTools;
  readonly #request: LaunchRequest;
  readonly #options: KubernetesOptions;
  readonly #context: LaunchContext;
  readonly #said = new Set<string>();
  #begun = false;

  constructor(
    tools: LaunchTools,
    request: LaunchRequest,
    options: KubernetesOptions,
    context: LaunchContext,
  ) {
    this.#tools = tools;
    this.#request = request;
    this.#options = options;
    this.#context = context;
  }

  async run(): Promise<Json> {
    const { signal } = this.#context;
    const version = await this.#tools.objects.version(signal);
    for (let waits = 0; ; ) {
      signal.throwIfAborted();
      const [sandbox, pods] = await this.#read();
      const step = nextLaunchStep({ version, sandbox, pods, begun: this.#begun }, this.#request);
      if (step.do === "wait") {
        this.#report(step.pod);
        waits += 1;
        await this.#tools.wait(waits, signal);
        continue;
      }
      try {
        const handle = await this.#take(step, version, sandbox);
        if (handle !== null) return handle;
        waits = 0;
      } catch (error) {
        // Somebody wrote in between: what is there now is read, and decided on, again.
        if (!isConflict(error)) throw explained(error);
        waits += 1;
        await this.#tools.wait(waits, signal);
      }
    }
  }

  async #read(): Promise<[Plain | null, readonly Plain[]]> {
    const { objects } = this.#tools;
    const { signal } = this.#context;
    const sandbox = await objects.get(this.#request.sandbox.name, signal);
    return [sandbox, sandbox === null ? [] : await objects.pods(this.#request.sandbox.id, signal)];
  }

  /** Does a step; the handle once there is nothing more to do. */
  async #take(
    step: Exclude<LaunchStep, { do: "wait" }>,
    version: SandboxVersion,
    sandbox: Plain | null,
  ): Promise<Json> {
    const { objects } = this.#tools;
    const { settings } = objects;
    const { signal } = this.#context;
    if (step.do === "refuse") throw step.error;
    if (step.do === "create" || sandbox === null) {
      await objects.create(newSandbox(version, this.#request, this.#options, settings), signal);
      this.#began();
      return null;
    }
    switch (step.do) {
      case "begin":
        await this.#patch(sandbox, startPatch(version, this.#request, this.#options, settings));
        await this.#dropFormerSecret(sandbox);
        this.#began();
        return null;
      case "mark":
        await this.#patch(sandbox, marked(this.#request.instance.id));
        this.#began();
        return null;
      case "suspend":
        await this.#patch(sandbox, { spec: intentOf(version, false) });
        return null;
      case "run": {
        const { sandbox: ref, instance, access } = this.#request;
        await writeSecret(
          this.#tools.client,
          settings,
          { owner: sandbox, sandbox: ref, instance, token: access.token },
          signal,
        );
        await this.#patch(sandbox, { spec: intentOf(version, true) });
        this.#began();
        return null;
      }
      case "finish":
        this.#report(step.pod);
        await this.#patch(sandbox, marked(null));
        return this.#handle(sandbox, step.pod);
      case "nothing":
        return this.#handle(sandbox, step.pod);
    }
  }

  async #patch(read: Plain, change: Plain): Promise<void> {
    await this.#tools.objects.patch(read, this.#request.sandbox.name, change, this.#context.signal);
  }

  /** The token of the run before is of no use to anybody any more. */
  async #dropFormerSecret(before: Plain): Promise<void> {
    const { client, objects } = this.#tools;
    const { sandbox, instance } = this.#request;
    const former = textAt(before, "metadata", "annotations", SECRET_KEY);
    if (former === null || former === secretName(sandbox, instance)) return;
    // The resource owns it: what is left here goes with the resource.
    await deleteSecret(client, objects.settings, former, this.#context.signal).catch(() => undefined);
  }

  #handle(sandbox: Plain, pod: Plain): Json {
    return { uid: uidOf(sandbox), pod: nameOf(pod), podUid: uidOf(pod) };
  }

  #began(): void {
    this.#begun = true;
    this.#say({ step: "resource", label: "Sandbox resource written", subject: this.#request.sandbox.name });
  }

  #report(pod: Plain | null): void {
    if (pod === null) return;
    const { scheduled, started } = podProgress(pod);
    if (scheduled) {
      const node = textAt(pod, "spec", "nodeName") ?? "";
      this.#say({ step: "schedule", label: "Pod scheduled", subject: node });
    }
    if (!started) return;
    this.#say({ step: "image", label: "Image pulled", subject: this.#request.image.name });
    this.#say({ step: "supervisor", label: "Supervisor started", subject: nameOf(pod) });
  }

  #say(done: Pick<DriverProgress, "step" | "label" | "subject">): void {
    if (this.#said.has(done.step)) return;
    this.#said.add(done.step);
    this.#context.report({ ...done, unit: "none", done: true });
  }
}

function marked(instanceId: string | null): Plain {
  return { metadata: { annotations: { [BOOTSTRAP_KEY]: instanceId } } };
}

/** What the server refuses to take in whatever state it is in will be refused again. */
function explained(error: unknown): unknown {
  if (!isStatus(error, 422) && !(error instanceof ApiError && error.status === 400)) return error;
  return new PermanentDriverError("ConfigurationInvalid", error.message, { cause: error });
}
