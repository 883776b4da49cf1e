import {
  seenInstance,
  type DriverPort,
  type Json,
  type LaunchContext,
  type LaunchRequest,
  type SandboxRef,
  type WorkContext,
} from "@slipway-examples/gateway-core";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { observeProcess, type ExpectedRun, type Observation, type WatchEvent } from "slipway/phase";
import { ImageCache } from "../src/image/image-cache.js";
import type { ImageSource } from "../src/image/image-source.js";

/** An archive that flows as far as a test lets it. */
export class HeldArchive {
  readonly #tar: Buffer;
  readonly #open: PassThrough[] = [];
  opened = 0;
  #held = true;

  constructor(tar: Buffer) {
    this.#tar = tar;
  }

  /** As an image of an engine: how long it is, nobody knows before its end. */
  get source(): ImageSource {
    return {
      identity: "held:1",
      label: "Image exported from local Docker",
      activeLabel: "Exporting image from local Docker",
      config: { env: [], workdir: "", user: "" },
      open: () => {
        this.opened += 1;
        const tar = new PassThrough();
        tar.write(this.#half);
        this.#open.push(tar);
        if (!this.#held) this.#finish(tar);
        return Promise.resolve({ tar, close: () => Promise.resolve() });
      },
    };
  }

  letGo(): void {
    this.#held = false;
    for (const tar of this.#open.splice(0)) this.#finish(tar);
  }

  get #half(): Buffer {
    return this.#tar.subarray(0, this.#tar.length / 2);
  }

  #finish(tar: PassThrough): void {
    tar.end(this.#tar.subarray(this.#half.length));
  }
}

/**
 * A driver that packs images as the one for machines does, into the same cache under the same lock. What it fakes: there
 * is no engine, the archive is the test's, and no machine: a start is a note in memory, for which the test speaks.
 */
export class PackingDriver implements DriverPort {
  readonly name = "packing";
  readonly #dataDir: string;
  readonly #archive: HeldArchive;
  readonly #requests = new Map<string, LaunchRequest>();
  readonly #running = new Map<string, string>();

  constructor(dataDir: string, archive: HeldArchive) {
    this.#dataDir = dataDir;
    this.#archive = archive;
  }

  get images(): string {
    return join(this.#dataDir, "images");
  }

  /** What the supervisor of a sandbox was started with, `undefined` before it was. */
  started(id: string): LaunchRequest | undefined {
    return this.#running.has(id) ? this.#requests.get(id) : undefined;
  }

  check(): Promise<void> {
    return Promise.resolve();
  }

  async launch(request: LaunchRequest, { signal, report }: LaunchContext): Promise<Json> {
    const { image, instance, sandbox } = request;
    const staging = join(this.#dataDir, "staging", instance.id);
    await mkdir(staging, { recursive: true });
    try {
      const { source } = this.#archive;
      const work = { image, source, staging, sandboxName: sandbox.name, signal, report };
      await new ImageCache(this.images, 1_000_000_000).provide(work);
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
    this.#requests.set(sandbox.id, request);
    this.#running.set(sandbox.id, instance.id);
    return {};
  }

  observe({ id }: SandboxRef, run: ExpectedRun): Promise<Observation> {
    return Promise.resolve(this.#seen(id, run));
  }

  list(): ReturnType<DriverPort["list"]> {
    const items = [...this.#running.keys()].map((id) => ({ id, observation: this.#seen(id, {}) }));
    return Promise.resolve({ items, cursor: null });
  }

  async *watch({ signal }: WorkContext): AsyncIterable<WatchEvent> {
    yield* [];
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }

  stop({ id }: SandboxRef): Promise<void> {
    this.#running.delete(id);
    return Promise.resolve();
  }

  cleanUp(sandbox: SandboxRef): Promise<void> {
    return this.stop(sandbox);
  }

  remove(sandbox: SandboxRef): Promise<void> {
    return this.stop(sandbox);
  }

  #seen(id: string, run: ExpectedRun): Observation {
    const instanceId = this.#running.get(id) ?? null;
    const process = instanceId === null ? null : { alive: true, exitCode: null, signal: null, instanceId };
    return seenInstance(observeProcess({ process, stateDir: { exists: true } }, { run }), instanceId, run);
  }
}
