import { InvalidInputError, type ImageSpec } from "@slipway-examples/gateway-core";
import type Docker from "dockerode";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { Readable } from "node:stream";
import { ExportContainer, inspectImage } from "./docker-export.js";
import { NO_CONFIG, type ImageConfig } from "./image-config.js";
import { permanent } from "../reasons.js";

/** Where an image comes from, and what tells exactly this content from any other. */
export interface ImageSource {
  readonly identity: string;
  /** For people, of the finished step. */
  readonly label: string;
  /** For people, of the step under way. */
  readonly activeLabel: string;
  readonly config: ImageConfig;
  /** Bytes of the archive; absent when nobody knows before it has passed. */
  readonly total?: number;
  /** Opens the archive. `staging` may keep notes about what has to be undone. */
  open(staging: string, signal: AbortSignal): Promise<OpenArchive>;
}

export interface OpenArchive {
  readonly tar: Readable;
  /** Undoes what opening it took. Idempotent; rejects when that could not be done. */
  close(): Promise<void>;
}

/** What may stand in the address of a request to the engine; whether it is an image's name, the engine decides. */
const REFERENCE = /^[A-Za-z0-9][A-Za-z0-9_-]*(?:[.:@/][A-Za-z0-9_-]+)*$/;

/** @throws InvalidInputError when the image names a source that this driver has not. */
export function checkImage(image: ImageSpec): void {
  if (image.include !== undefined) {
    throw new InvalidInputError(
      "image.include",
      "absent: a virtual machine takes the whole image",
      image.include,
    );
  }
  if (image.path !== undefined && !isAbsolute(image.path)) {
    throw new InvalidInputError("image.path", "an absolute path of a tar archive", image.path);
  }
  if (image.path === undefined && !REFERENCE.test(image.name)) {
    throw new InvalidInputError("image.name", "the name of an image in the local Docker engine", image.name);
  }
}

/** Looks at the image: an archive when it has a path, else an image of the local Docker engine. */
export async function sourceOf(image: ImageSpec, docker: Docker, signal: AbortSignal): Promise<ImageSource> {
  return image.path === undefined ? dockerSource(image, docker, signal) : archiveSource(image, image.path);
}

async function dockerSource(image: ImageSpec, docker: Docker, signal: AbortSignal): Promise<ImageSource> {
  const { id, config } = await inspectImage(docker, image.name, signal);
  return {
    identity: `docker:${id}`,
    config,
    label: "Image exported from local Docker",
    activeLabel: "Exporting image from local Docker",
    open: async (staging, openSignal) => {
      const container = await ExportContainer.create(docker, { imageId: id, staging }, openSignal);
      try {
        return { tar: await container.export(openSignal), close: () => container.remove() };
      } catch (error) {
        await container.remove().catch(() => undefined);
        throw error;
      }
    },
  };
}

/**
 * An archive is told from others by what the system says of the file. Its time of change is in it beside its time of
 * modification: builds that can be repeated set the latter to a constant.
 */
async function archiveSource(image: ImageSpec, path: string): Promise<ImageSource> {
  const found = await stat(path, { bigint: true }).catch((error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    throw permanent("MachineImageNotFound", `The image ${image.name} cannot be read: ${text}`);
  });
  if (!found.isFile()) {
    throw permanent("MachineImageUnusable", `The image ${image.name} (${path}) is no tar archive`);
  }
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return {
    identity: `tar:${path}:${[dev, ino, size, mtimeNs, ctimeNs].join(":")}`,
    label: "Image packed from its archive",
    activeLabel: "Packing image from its archive",
    config: NO_CONFIG,
    total: Number(size),
    open: async () => {
      const tar = createReadStream(path, { highWaterMark: 1 << 20 });
      return Promise.resolve({ tar, close: () => closed(tar) });
    },
  };
}

function closed(tar: Readable): Promise<void> {
  tar.destroy();
  return Promise.resolve();
}
