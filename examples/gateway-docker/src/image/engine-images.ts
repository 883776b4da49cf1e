import { PermanentDriverError, type DriverProgress, type ImageSpec } from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import type Docker from "dockerode";
import { createReadStream } from "node:fs";
import { archiveOf, pulledReference, type DockerOptions } from "../docker-options.js";
import { engineMessage, jsonLines, statusOf } from "../engine.js";
import { lookAtArchive, type Archive } from "./archive.js";
import { PullProgress } from "./pull-progress.js";
import { SharedWork, type Waiter } from "./shared-work.js";

/** A few reports a second keep a line on a terminal lively; each one is a committed write. */
const REPORT_EVERY_MS = 250;

/** News of the work on an image, before it is said whose image it is. */
type ImageNews = Omit<DriverProgress, "subject">;
type Tell = (key: string, news: ImageNews) => void;

export interface EngineImage {
  readonly id: string;
  readonly bytes: number;
}

export interface PrepareContext {
  readonly signal: AbortSignal;
  readonly report: (progress: DriverProgress) => void;
}

/** Brings images into the engine. Whatever number of sandboxes asks for one at once, it is fetched once. */
export class EngineImages {
  readonly #docker: Docker;
  readonly #clock: Clock;
  readonly #work = new SharedWork<EngineImage, ImageNews>();

  constructor(docker: Docker, clock: Clock) {
    this.#docker = docker;
    this.#clock = clock;
  }

  /** The image in the engine. Its step is done once the engine has it complete, and names what was asked for. */
  async prepare(
    image: ImageSpec,
    pull: DockerOptions["pull"],
    context: PrepareContext,
  ): Promise<EngineImage> {
    const { signal } = context;
    const waiter: Waiter<ImageNews> = {
      signal,
      tell: (news) => context.report({ ...news, subject: image.name }),
    };
    const path = archiveOf(image);
    const archive = path === null ? null : await lookAtArchive(image.name, path);
    const reference = archive?.reference ?? pulledReference(image.name);
    const found = pull === "always" && archive === null ? null : await this.find(reference, signal);
    if (found !== null) {
      const label = archive === null ? "Image found in the engine" : "Image imported before";
      waiter.tell({
        step: "image",
        label,
        unit: "bytes",
        position: found.bytes,
        total: found.bytes,
        done: true,
      });
      return found;
    }
    if (archive !== null) {
      return this.#work.join(reference, waiter, (shared, tell) => this.#import(archive, shared, tell));
    }
    if (pull === "never") {
      throw new PermanentDriverError(
        "ImagePullFailed",
        `The image ${image.name} is not in the engine, and pull is "never"`,
      );
    }
    return this.#work.join(reference, waiter, (shared, tell) => this.#pull(reference, shared, tell));
  }

  /** What the engine has under a reference; `null` when it has none. */
  async find(reference: string, signal: AbortSignal): Promise<EngineImage | null> {
    try {
      const image = this.#docker.getImage(reference);
      const inspect = image.inspect as (options: object) => Promise<Docker.ImageInspectInfo>;
      const { Id, Size } = await inspect.call(image, { abortSignal: signal });
      return { id: Id, bytes: Size };
    } catch (error) {
      if (statusOf(error) === 404) return null;
      throw error;
    }
  }

  async #pull(reference: string, signal: AbortSignal, tell: Tell): Promise<EngineImage> {
    const progress = new PullProgress();
    const due = this.#throttle();
    const labels = { download: "Image downloaded", image: "Image pulled" };
    tell("image", { step: "download", label: labels.download, unit: "bytes" });
    const stream = await this.#docker
      .createImage({ fromImage: reference, abortSignal: signal })
      .catch((error: unknown) => {
        throw pullFailure(reference, error);
      });
    await follow(stream, `pull ${reference}`, (message) => {
      const step = progress.take(message);
      if (step === null || !(due(step.step) || step.done)) return;
      const { position, total, done } = step;
      tell(step.step, {
        step: step.step,
        label: labels[step.step],
        unit: "bytes",
        position,
        ...(total !== null && { total }),
        ...(done && { done }),
      });
    });
    const bytes = progress.fetched;
    tell("download", {
      step: "download",
      label: labels.download,
      unit: "bytes",
      position: bytes,
      total: bytes,
      done: true,
    });
    return this.#arrived(reference, labels.image, bytes, signal, tell);
  }

  async #import(archive: Archive, signal: AbortSignal, tell: Tell): Promise<EngineImage> {
    const label = "Image imported from archive";
    const [repo = "", tag = ""] = archive.reference.split(":");
    const due = this.#throttle();
    const file = createReadStream(archive.path, { highWaterMark: 1 << 20 });
    let position = 0;
    const step = { step: "image", label, unit: "bytes", total: archive.size } as const;
    tell("image", { ...step, position: 0 });
    file.on("data", (chunk) => {
      position += chunk.length;
      if (due("image")) tell("image", { ...step, position });
    });
    try {
      // An imported filesystem has no configuration: without a path nothing in it would be found.
      const changes = ["ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"];
      const options = { repo, tag, changes, abortSignal: signal };
      await follow(await this.#docker.importImage(file, options), `import ${archive.path}`);
    } finally {
      file.destroy();
    }
    return this.#arrived(archive.reference, label, archive.size, signal, tell);
  }

  /** An engine may end its answer early and call it success: the image counts when it can be looked at. */
  async #arrived(
    reference: string,
    label: string,
    bytes: number,
    signal: AbortSignal,
    tell: Tell,
  ): Promise<EngineImage> {
    const image = await this.find(reference, signal);
    if (image === null)
      throw new Error(`The engine ended its work on ${reference} and does not have the image`);
    tell("image", { step: "image", label, unit: "bytes", position: bytes, total: bytes, done: true });
    return image;
  }

  #throttle(): (step: string) => boolean {
    const last = new Map<string, number>();
    return (step) => {
      const now = this.#clock.now();
      if (now - (last.get(step) ?? -REPORT_EVERY_MS) < REPORT_EVERY_MS) return false;
      last.set(step, now);
      return true;
    };
  }
}

/** Reads an answer to its end. An error in the middle of it carries no code, so it is taken as one that may pass. */
async function follow(
  stream: NodeJS.ReadableStream,
  what: string,
  take: (message: Readonly<Record<string, unknown>>) => void = () => undefined,
): Promise<void> {
  for await (const message of jsonLines(stream)) {
    if (typeof message["error"] === "string")
      throw new Error(`The engine could not ${what}: ${message["error"]}`);
    take(message);
  }
}

/** What the registry or the engine refuses stays refused; what did not get through may get through. */
function pullFailure(reference: string, error: unknown): unknown {
  const status = statusOf(error);
  const message = `The image ${reference} cannot be pulled: ${engineMessage(error)}`;
  if (status === null || status >= 500 || status === 408 || status === 429)
    return new Error(message, { cause: error });
  const reason = status === 400 ? "ImageInvalid" : "ImagePullFailed";
  return new PermanentDriverError(reason, message, { cause: error });
}
