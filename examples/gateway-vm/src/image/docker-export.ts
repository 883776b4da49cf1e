import type Docker from "dockerode";
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Readable } from "node:stream";
import { z } from "zod";
import { readJson, writeJson } from "../json-file.js";
import { permanent } from "../reasons.js";
import type { ImageConfig } from "./image-config.js";

/** How long an engine may take to remove a container that has never run. One that is paused never answers. */
const REMOVE_LIMIT_MS = 3000;
const POLL_MS = 100;

const noteSchema = z.object({ container: z.string() });

export async function inspectImage(
  docker: Docker,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly config: ImageConfig }> {
  try {
    const { Id: id, Config } = await abortable(docker.getImage(name).inspect(), signal);
    return { id, config: configOf(Config) };
  } catch (error) {
    signal.throwIfAborted();
    const status = statusOf(error);
    if (status === 404) {
      throw permanent("MachineImageNotFound", `The local Docker engine has no image ${name}`);
    }
    if (status === 400) {
      throw permanent("MachineImageNotFound", `${name} is no name of an image: ${textOf(error)}`);
    }
    throw engineError(error);
  }
}

/** An engine leaves out what the image does not say. */
function configOf(config: Partial<Docker.ImageInspectInfo["Config"]> | null | undefined): ImageConfig {
  return { env: config?.Env ?? [], workdir: config?.WorkingDir ?? "", user: config?.User ?? "" };
}

/**
 * A container that is made only to export its image's file system; it never runs.
 *
 * Its name is written down before it is made, so that it is found and removed whoever dies in between.
 */
export class ExportContainer {
  readonly #docker: Docker;
  readonly #name: string;
  readonly #staging: string;

  private constructor(docker: Docker, name: string, staging: string) {
    this.#docker = docker;
    this.#name = name;
    this.#staging = staging;
  }

  static async create(
    docker: Docker,
    { imageId, staging }: { readonly imageId: string; readonly staging: string },
    signal: AbortSignal,
  ): Promise<ExportContainer> {
    const name = `slipway-export-${randomUUID()}`;
    const container = new ExportContainer(docker, name, staging);
    await writeJson(noteIn(staging), { container: name });
    signal.throwIfAborted();
    const created = docker.createContainer({
      name,
      Image: imageId,
      // Never run, but the engine refuses a container without a command.
      Cmd: ["export"],
      NetworkDisabled: true,
      Labels: { "dev.slipway.purpose": "image-export" },
    });
    try {
      await abortable(created, signal);
    } catch (error) {
      // An engine that was asked may still do it: what comes of it is removed whenever it comes.
      created.then(() => container.remove()).catch(() => undefined);
      signal.throwIfAborted();
      await container.remove().catch(() => undefined);
      throw engineError(error);
    }
    return container;
  }

  async export(signal: AbortSignal): Promise<Readable> {
    try {
      const tar = await this.#docker.getContainer(this.#name).export({ abortSignal: signal });
      // A readable stream in all but its declared type.
      return tar as unknown as Readable;
    } catch (error) {
      signal.throwIfAborted();
      throw engineError(error);
    }
  }

  /** Removes it; the note about it goes once the engine said that it is gone. */
  async remove(): Promise<void> {
    const abortSignal = AbortSignal.timeout(REMOVE_LIMIT_MS);
    for (;;) {
      try {
        await this.#docker.getContainer(this.#name).remove({ force: true, v: true, abortSignal });
      } catch (error) {
        // 409: somebody's removal is under way, which is over when there is nothing left to remove.
        if (statusOf(error) === 404) break;
        if (statusOf(error) !== 409 || abortSignal.aborted) throw engineError(error);
        await delay(POLL_MS);
      }
    }
    await rm(noteIn(this.#staging), { force: true });
  }

  /** The container that a staging directory's note names, `null` when there is none. */
  static async noted(docker: Docker, staging: string): Promise<ExportContainer | null> {
    const note = await readJson(noteIn(staging), noteSchema);
    return note === null ? null : new ExportContainer(docker, note.container, staging);
  }
}

function noteIn(staging: string): string {
  return join(staging, "export.json");
}

/** Stops waiting when the signal aborts; what was asked for goes on. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function statusOf(error: unknown): number | undefined {
  return (error as { statusCode?: number }).statusCode;
}

function engineError(error: unknown): Error {
  return new Error(`The Docker engine failed: ${textOf(error)}`, { cause: error });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
