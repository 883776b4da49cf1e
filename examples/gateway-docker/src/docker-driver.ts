import {
  InvalidInputError,
  PermanentDriverError,
  seenInstance,
  type DriverPort,
  type ImageSpec,
  type Json,
  type JsonObject,
  type LaunchContext,
  type LaunchRequest,
  type SandboxRef,
  type WorkContext,
} from "@slipway-examples/gateway-core";
import { systemClock, type Clock } from "slipway";
import {
  observeDockerInspect,
  type ExpectedRun,
  type Observation,
  type ObservedSandbox,
  type Page,
  type WatchEvent,
} from "slipway/phase";
import type Docker from "dockerode";
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { Readable } from "node:stream";
import { INSIDE, containerSpec, tokenArchive, type Surroundings } from "./container-spec.js";
import { archiveOf, parseDockerOptions, parseReference } from "./docker-options.js";
import { jsonLines, refusal, statusOf, unless } from "./engine.js";
import { EngineTime } from "./engine-time.js";
import { EngineImages } from "./image/engine-images.js";
import type { GatewaySocket } from "./gateway-socket.js";
import { isBefore, LABEL, markedWith } from "./marks.js";
import { observeSandbox } from "./observe.js";
import { dockerReasons } from "./reasons.js";
import { SandboxObjects, sandboxIdOf } from "./sandbox-objects.js";
import { settledEnd } from "./settled-end.js";

const DEFAULT_STOP_GRACE_MS = 10_000;
const PAGE_SIZE = 100;

/** What of the engine's news may change a sandbox. Health checks would fill the stream with their own processes. */
const EVENTS = [
  ...["create", "start", "die", "oom", "health_status", "pause", "unpause", "destroy"],
  // Podman shows Docker's words for these and takes only its own in a filter.
  ...["died", "remove"],
];

/** How long what a failed start has made may take to go; what is left then is the next cleanup's. */
const UNDO_LIMIT_MS = 60_000;

export interface DockerDriverOptions {
  readonly docker: Docker;
  /** The mark of this gateway on everything it makes. Two gateways on one engine need two. */
  readonly gateway: string;
  readonly clock?: Clock | undefined;
  /** The engine's network for sandboxes. Default `host`, which reaches the gateway on the loopback interface. */
  readonly network?: string | undefined;
  /** A socket that leads to the gateway, mounted into every sandbox: then `network` may be `none`. Closed by the driver. */
  readonly door?: GatewaySocket | undefined;
  readonly stopGraceMs?: number | undefined;
  /** Run the engine's init as first process, default true. An engine without one needs false. */
  readonly init?: boolean | undefined;
}

/** What was listed for a sandbox. */
interface Found {
  readonly container: Docker.ContainerInfo | null;
  readonly wasStarted: boolean;
  /** From before anything was asked: what begins while the engine answers, or this process is held up, was not seen. */
  readonly observedAt: number;
}

/** A sandbox is a volume for its workspace and, for each run, a container. */
export class DockerDriver implements DriverPort {
  readonly name = "docker";
  readonly reasons = Object.keys(dockerReasons.reasons);
  readonly findsByData = true;
  readonly #docker: Docker;
  readonly #clock: Clock;
  readonly #gateway: string;
  readonly #surroundings: Surroundings;
  readonly #door: GatewaySocket | null;
  readonly #objects: SandboxObjects;
  readonly #images: EngineImages;
  readonly #time: EngineTime;
  /** Sandboxes that a start is at work for, with the number of such starts. */
  readonly #launching = new Map<string, number>();

  constructor(options: DockerDriverOptions) {
    const { docker, gateway, clock = systemClock, network = "host", door, init = true } = options;
    const { stopGraceMs = DEFAULT_STOP_GRACE_MS } = options;
    this.#docker = docker;
    this.#clock = clock;
    this.#gateway = gateway;
    this.#door = door ?? null;
    this.#surroundings = { gateway, network, socketDir: door?.dir ?? null, init, stopGraceMs };
    this.#objects = new SandboxObjects(docker, gateway);
    this.#images = new EngineImages(docker, clock);
    this.#time = new EngineTime(docker, clock);
  }

  async check(image: ImageSpec, options: JsonObject): Promise<void> {
    parseDockerOptions(options);
    if (image.include !== undefined) {
      throw new InvalidInputError("image.include", "absent (an image is used whole)", image.include);
    }
    const archive = archiveOf(image);
    if (archive === null) {
      const expected = "an image reference, as in name:tag or host/name@sha256:…";
      if (parseReference(image.name) === null)
        throw new InvalidInputError("image.name", expected, image.name);
      return;
    }
    if (!isAbsolute(archive)) throw new InvalidInputError("image.path", "an absolute path", archive);
    const found = await stat(archive).catch(() => null);
    if (found?.isFile() !== true)
      throw new InvalidInputError("image.path", "an archive that exists", archive);
  }

  async launch(request: LaunchRequest, context: LaunchContext): Promise<Json> {
    const { id } = request.sandbox;
    this.#launching.set(id, (this.#launching.get(id) ?? 0) + 1);
    try {
      return await this.#launch(request, context);
    } finally {
      const left = (this.#launching.get(id) ?? 1) - 1;
      if (left > 0) this.#launching.set(id, left);
      else this.#launching.delete(id);
    }
  }

  async observe(
    sandbox: SandboxRef,
    run: ExpectedRun,
    handle: Json | null,
    { signal }: WorkContext,
  ): Promise<Observation | null> {
    const observedAt = this.#clock.now();
    const found = await this.#objects.containers(signal, sandbox);
    const expected = run.instanceId ?? null;
    const own = found.find(({ Labels }) => expected === null || Labels[LABEL.instance] === expected);
    // Without one of its own a run that was started has lost it, and one that was not waits beside an older one.
    const container = own ?? (handle === null ? (found[0] ?? null) : null);
    return this.#look(sandbox.id, { container, wasStarted: handle !== null, observedAt }, run, signal);
  }

  async list(cursor: string | null, { signal }: WorkContext): Promise<Page<ObservedSandbox>> {
    const observedAt = this.#clock.now();
    const latest = await this.#objects.latest(signal);
    const ids = [...latest.keys()].sort().filter((id) => cursor === null || id > cursor);
    const page = ids.slice(0, PAGE_SIZE);
    const items: ObservedSandbox[] = [];
    for (const id of page) {
      const found = { container: latest.get(id) ?? null, wasStarted: false, observedAt };
      items.push({ id, observation: await this.#look(id, found, {}, signal) });
    }
    return { items, cursor: ids.length > page.length ? (page.at(-1) ?? null) : null };
  }

  async *watch({ signal }: WorkContext): AsyncGenerator<WatchEvent> {
    const filters = { ...markedWith(this.#gateway), type: ["container"], event: EVENTS };
    const stream = await this.#docker.getEvents({ filters: JSON.stringify(filters), abortSignal: signal });
    try {
      // What happened while nobody listened is told by nobody: all of them are looked at once.
      for (const id of (await this.#objects.latest(signal)).keys()) yield { type: "changed", id };
      for await (const { Actor } of jsonLines(stream)) {
        const id = sandboxIdOf((Actor as { Attributes?: Record<string, string> } | undefined)?.Attributes);
        if (id !== null) yield { type: "changed", id };
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      // A readable stream in all but its declared type.
      (stream as unknown as Readable).destroy();
    }
  }

  async stop(sandbox: SandboxRef, context: WorkContext): Promise<void> {
    await this.#objects.stop(sandbox, this.#surroundings.stopGraceMs, context);
  }

  async cleanUp(sandbox: SandboxRef, { signal, upTo }: WorkContext): Promise<void> {
    await this.#objects.removeContainers(
      sandbox,
      signal,
      (start) => upTo === undefined || !isBefore(upTo, start),
    );
  }

  async remove(sandbox: SandboxRef, { signal }: WorkContext): Promise<void> {
    await this.#objects.removeContainers(sandbox, signal);
    await this.#objects.removeWorkspace(sandbox, signal);
  }

  close(): Promise<void> {
    this.#door?.close();
    return Promise.resolve();
  }

  async #launch(request: LaunchRequest, context: LaunchContext): Promise<Json> {
    const { image, instance, sandbox } = request;
    const { signal } = context;
    const options = parseDockerOptions(request.options);
    await this.#objects.refuseOvertaken(sandbox, instance, signal);
    const before = await this.#containerOf(sandbox, instance.id, signal);
    // Started by a call whose answer was lost: the run has begun, and is observed from now on.
    if (before !== null && before.State !== "created") return { container: before.Id };
    if (before !== null) await this.#objects.removeContainer(before.Id, signal);
    await this.#door?.leadTo(request.access.url);
    await this.#objects.ensureWorkspace(sandbox);
    const { id: imageId } = await this.#images.prepare(image, options.pull, context);
    signal.throwIfAborted();
    const spec = containerSpec(request, imageId, options, this.#surroundings);
    // Not to be given up half-way: the engine would go on with it, and nobody would know what it made.
    const container = await this.#docker.createContainer(spec).catch((error: unknown) => {
      throw refusal("ContainerCreateFailed", `The engine refused the container of ${sandbox.name}`, error);
    });
    try {
      await this.#begin(container, request, signal);
    } catch (error) {
      const signal = AbortSignal.timeout(UNDO_LIMIT_MS);
      await this.#objects.removeContainer(container.id, signal).catch(() => undefined);
      throw error;
    }
    const started = { step: "supervisor", label: "Supervisor started", subject: container.id.slice(0, 12) };
    context.report({ ...started, unit: "none", done: true });
    return { container: container.id };
  }

  /** From a container that was made to one that runs, once nothing older runs beside it. */
  async #begin(container: Docker.Container, request: LaunchRequest, signal: AbortSignal): Promise<void> {
    const { access, image, instance, sandbox } = request;
    // Made first and looked for then: of two gateways at this point at least one sees the other's.
    await this.#objects.refuseOvertaken(sandbox, instance, signal);
    await this.#objects.removeContainers(sandbox, signal, (start) => isBefore(start, instance));
    await this.#checkSupervisor(container, image);
    await container.putArchive(await tokenArchive(access.token), { path: "/" });
    signal.throwIfAborted();
    await this.#start(container, request);
    signal.throwIfAborted();
  }

  async #checkSupervisor(container: Docker.Container, image: ImageSpec): Promise<void> {
    for (const path of [INSIDE.node, INSIDE.start]) {
      const answer = container.infoArchive({ path }) as Promise<NodeJS.ReadableStream>;
      const found = await answer.catch((error: unknown) => {
        if (statusOf(error) !== 404) throw error;
        const message = `The image ${image.name} has no ${path}: no supervisor can run in it`;
        throw new PermanentDriverError("DockerSupervisorMissing", message);
      });
      found.resume();
    }
  }

  /** Starts it. What the engine calls a fault of the request no second try can mend; anything else it may. */
  async #start(container: Docker.Container, { sandbox }: LaunchRequest): Promise<void> {
    await unless([304], container.start()).catch((error: unknown) => {
      throw refusal(
        "ContainerStartFailed",
        `The engine cannot start the container of ${sandbox.name}`,
        error,
      );
    });
  }

  async #containerOf(
    sandbox: SandboxRef,
    instanceId: string,
    signal: AbortSignal,
  ): Promise<Docker.ContainerInfo | null> {
    const found = await this.#objects.containers(signal, sandbox);
    return found.find(({ Labels }) => Labels[LABEL.instance] === instanceId) ?? null;
  }

  #look(id: string, found: Found, run: ExpectedRun, signal: AbortSignal): Promise<Observation> {
    return settledEnd(() => this.#see(id, found, run, signal), run, this.#clock, signal);
  }

  async #see(
    id: string,
    { container, wasStarted, observedAt }: Found,
    run: ExpectedRun,
    signal: AbortSignal,
  ): Promise<Observation> {
    const inspect = container === null ? null : await this.#objects.inspect(container.Id, signal);
    const workspace = inspect !== null || (await this.#objects.hasWorkspace({ id, name: "" }, signal));
    // What has not ended is dated by nobody but the gateway.
    const hasEnd = inspect !== null && observeDockerInspect({ inspect }).finishedAt !== null;
    const skewMs = hasEnd ? await this.#time.skewMs(signal) : 0;
    const launching = this.#launching.has(id);
    const facts = { inspect, workspace, wasStarted, launching, observedAt, skewMs };
    const seen = observeSandbox(facts, run);
    return seenInstance(seen, inspect?.Config.Labels[LABEL.instance] ?? null, run);
  }
}
