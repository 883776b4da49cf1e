import {
  InvalidInputError,
  PermanentDriverError,
  type DriverPort,
  type ImageSpec,
  type Json,
  type JsonObject,
  type LaunchContext,
  type LaunchRequest,
  type SandboxRef,
  type WorkContext,
} from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import type { ExpectedRun, Observation, ObservedSandbox, Page, WatchEvent } from "slipway/phase";
import { exponentialBackoff } from "slipway/retry";
import { isConflict, isObjectMissing } from "../api/api-error.js";
import type { KubeClient } from "../api/kube-client.js";
import { textAt, uidOf, type Plain } from "../api/plain.js";
import {
  BOOTSTRAP_KEY,
  isNewerStart,
  LABEL_VALUE,
  OBJECT_NAME,
  SANDBOX_LABEL,
  SECRET_KEY,
  START_KEY,
} from "../resource/names.js";
import { intentOf, wantsRun, type SandboxVersion } from "../resource/sandbox-api.js";
import type { SandboxSettings } from "../resource/sandbox-settings.js";
import { deleteSecret } from "../resource/token-secret.js";
import { Hints } from "./hints.js";
import { Launch } from "./launch.js";
import { observeSeen } from "./observe.js";
import { checkImage, parseKubernetesOptions } from "./options.js";
import { isLeftBy, isOwnedBy } from "./owned-pods.js";
import { SandboxObjects } from "./sandbox-objects.js";

export interface KubernetesDriverOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly settings: SandboxSettings;
  readonly version?: SandboxVersion | undefined;
  readonly random?: (() => number) | undefined;
  readonly pageSize?: number | undefined;
}

/** Waits between two looks at what is to change: short at first; news of a watch end them early. */
const LOOK_AGAIN = exponentialBackoff({ initialMs: 250, factor: 2, capMs: 2000, jitter: "equal" });
const LOOK_AGAIN_WATCHED = exponentialBackoff({ initialMs: 500, factor: 2, capMs: 10_000, jitter: "equal" });

/**
 * A sandbox is a custom resource of agent-sandbox; its controller makes the pod and the volume claim. This driver
 * writes the resource and a Secret, and reads pods. It starts and stops through the resource only.
 */
export class KubernetesDriver implements DriverPort {
  readonly name = "kubernetes";
  readonly #client: KubeClient;
  readonly #random: (() => number) | undefined;
  readonly #objects: SandboxObjects;
  readonly #hints: Hints;
  #watches = 0;

  constructor(options: KubernetesDriverOptions) {
    this.#client = options.client;
    this.#random = options.random;
    this.#objects = new SandboxObjects(options);
    this.#hints = new Hints(options.clock);
  }

  check(image: ImageSpec, options: JsonObject): Promise<void> {
    return new Promise((resolve) => {
      checkImage(image);
      parseKubernetesOptions(options);
      resolve();
    });
  }

  async launch(request: LaunchRequest, context: LaunchContext): Promise<Json> {
    const { sandbox } = request;
    refuseNames(sandbox);
    const tools = {
      client: this.#client,
      objects: this.#objects,
      wait: (waits: number, signal: AbortSignal) => this.#wait(sandbox.id, waits, signal),
    };
    return new Launch(tools, request, parseKubernetesOptions(request.options), context).run();
  }

  async observe(
    sandbox: SandboxRef,
    run: ExpectedRun,
    _handle: Json | null,
    { signal }: WorkContext,
  ): Promise<Observation> {
    return observeSeen(await this.#objects.look(sandbox, signal), run);
  }

  async list(cursor: string | null, { signal }: WorkContext): Promise<Page<ObservedSandbox>> {
    const page = await this.#objects.list(cursor, signal);
    const items = page.items.map((seen) => ({ id: seen.id, observation: observeSeen(seen, undefined) }));
    return { items, cursor: page.cursor };
  }

  async *watch({ signal }: WorkContext): AsyncGenerator<WatchEvent> {
    this.#watches += 1;
    try {
      // Who waits in a start or a stop hears of every step at once.
      yield* this.#objects.watch(signal, ({ id }) => this.#hints.tell(id));
    } finally {
      this.#watches -= 1;
    }
  }

  /** Suspends the resource, and waits until its pods are gone. */
  async stop(sandbox: SandboxRef, context: WorkContext): Promise<void> {
    const suspended = await this.#suspend(sandbox, context);
    if (suspended !== null) await this.#untilNoPods(sandbox, uidOf(suspended), context);
  }

  async cleanUp(sandbox: SandboxRef, context: WorkContext): Promise<void> {
    const suspended = await this.#suspend(sandbox, context);
    if (suspended === null) return;
    const secret = textAt(suspended, "metadata", "annotations", SECRET_KEY);
    if (secret !== null) await deleteSecret(this.#client, this.#objects.settings, secret, context.signal);
    await this.#untilNoPods(sandbox, uidOf(suspended), context);
  }

  /**
   * Deletes the resource; the cluster removes what it owns: pods, Secret and the workspace's claim. Where somebody else
   * deleted it, in the background as most tools do, its pods are still to go.
   */
  async remove(sandbox: SandboxRef, { signal }: WorkContext): Promise<void> {
    for (let waits = 1; ; waits += 1) {
      const found = await this.#own(sandbox, signal);
      if (found === null) {
        const pods = await this.#objects.pods(sandbox.id, signal);
        if (!pods.some((pod) => isLeftBy(pod, sandbox.name))) return;
      } else if (textAt(found, "metadata", "deletionTimestamp") === null) {
        await this.#objects.delete(found, sandbox.name, signal).catch((error: unknown) => {
          if (!isConflict(error) && !isObjectMissing(error, sandbox.name)) throw error;
        });
      }
      await this.#wait(sandbox.id, waits, signal);
    }
  }

  /**
   * Suspends and takes the start's mark off; the resource as it then is, `null` when there is none that the call is
   * meant for.
   */
  async #suspend(sandbox: SandboxRef, { signal, upTo }: WorkContext): Promise<Plain | null> {
    const version = await this.#objects.version(signal);
    for (let conflicts = 1; ; conflicts += 1) {
      const found = await this.#own(sandbox, signal);
      if (found === null || isBeyond(found, upTo)) return null;
      const marked = textAt(found, "metadata", "annotations", BOOTSTRAP_KEY) !== null;
      if (!marked && !wantsRun(version, found)) return found;
      const change = { metadata: { annotations: { [BOOTSTRAP_KEY]: null } }, spec: intentOf(version, false) };
      try {
        return await this.#objects.patch(found, sandbox.name, change, signal);
      } catch (error) {
        if (isObjectMissing(error, sandbox.name)) return null;
        if (!isConflict(error)) throw error;
        await this.#wait(sandbox.id, conflicts, signal);
      }
    }
  }

  async #untilNoPods(sandbox: SandboxRef, uid: string, { signal, upTo }: WorkContext): Promise<void> {
    const version = await this.#objects.version(signal);
    for (let waits = 1; ; waits += 1) {
      const pods = await this.#objects.pods(sandbox.id, signal);
      if (!pods.some((pod) => isOwnedBy(pod, uid))) return;
      await this.#wait(sandbox.id, waits, signal);
      // A start that came after this stop has its own pods, which are not this stop's to wait for.
      const found = await this.#own(sandbox, signal);
      if (found === null || uidOf(found) !== uid || wantsRun(version, found) || isBeyond(found, upTo)) return;
    }
  }

  /** The sandbox's resource; one of somebody else under its name is not there. */
  async #own({ id, name }: SandboxRef, signal: AbortSignal): Promise<Plain | null> {
    const found = await this.#objects.get(name, signal);
    return textAt(found, "metadata", "labels", SANDBOX_LABEL) === id ? found : null;
  }

  #wait(id: string, waits: number, signal: AbortSignal): Promise<void> {
    const rule = this.#watches > 0 ? LOOK_AGAIN_WATCHED : LOOK_AGAIN;
    return this.#hints.next(id, rule.delayMs(waits, { random: this.#random }), signal);
  }
}

/** Whether the resource carries a newer start than a call is meant for. */
function isBeyond(found: Plain, upTo: WorkContext["upTo"]): boolean {
  return upTo !== undefined && isNewerStart(textAt(found, "metadata", "annotations", START_KEY), upTo);
}

/** Names do not change: what the cluster does not take now it never takes. */
function refuseNames({ id, name }: SandboxRef): void {
  const wrong = !OBJECT_NAME.test(name)
    ? new InvalidInputError("name", "a DNS label", name)
    : !LABEL_VALUE.test(id)
      ? new InvalidInputError("id", "a label value", id)
      : null;
  if (wrong !== null) throw new PermanentDriverError("ConfigurationInvalid", wrong.message, { cause: wrong });
}
