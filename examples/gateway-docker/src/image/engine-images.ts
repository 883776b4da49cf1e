import { PermanentDriverError, type DriverProgress, type ImageSpec } from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import type Docker from "dockerode";
import { createReadStream } from "node:fs";
import { archiveOf, pulledReference, type DockerOptions } from "../docker-options.js";
import { engineMessage, failureIn, jsonLines, statusOf } from "../engine.js";
import { lookAtArchive, type Archive } from "./archive.js";
import { Pace } from "./pace.js";
import { PullProgress } from "./pull-progress.js";
import { SharedWork, type Waiter, type Work } from "./shared-work.js";

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
    let done = false;
    const waiter: Waiter<ImageNews> = {
      signal,
      tell: (news, waits) => {
        done ||= !waits && news.step === "image" && news.done === true;
        context.report({ ...(waits ? waitingFor(news) : news), subject: image.name });
      },
    };
    const fetched = async (work: Work<EngineImage, ImageNews>): Promise<EngineImage> => {
      const arrived = await this.#work.join(reference, waiter, work);
      // Whoever only waited has its own step to end: the image is there.
      if (!done) waiter.tell(foundAs("Image found in the engine", arrived), false);
      return arrived;
    };
    const path = archiveOf(image);
    const archive = path === null ? null : await lookAtArchive(image.name, path);
    const reference = archive?.reference ?? pulledReference(image.name);
    const found = pull === "always" && archive === null ? null : await this.find(reference, signal);
    if (found !== null) {
      const label = archive === null ? "Image found in the engine" : "Image imported before";
      waiter.tell(foundAs(label, found), false);
      return found;
    }
    if (archive !== null) {
      return fetched((shared, tell) => this.#import(archive, shared, tell));
    }
    if (pull === "never") {
      throw new PermanentDriverError(
        "ImagePullFailed",
        `The image ${image.name} is not in the engine, and pull is "never"`,
      );
    }
    return fetched((shared, tell) => this.#pull(reference, shared, tell));
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
    const pace = new Pace<ImageNews>(this.#clock, REPORT_EVERY_MS, tell);
    const words = {
      download: { label: "Image downloaded", activeLabel: "Downloading image" },
      image: { label: "Image pulled", activeLabel: "Unpacking image" },
    };
    pace.push("download", { step: "download", ...words.download, unit: "bytes" });
    const options = { fromImage: reference, abortSignal: signal };
    const stream = await this.#docker.createImage(options).catch((error: unknown) => {
      throw pullFailure(reference, error);
    });
    try {
      await follow(stream, `pull ${reference}`, (message) => {
        const moved = progress.take(message);
        if (moved === null) return;
        const { step, seconds, done } = moved;
        const position = moved.position ?? undefined;
        const total = position === undefined ? undefined : (moved.total ?? undefined);
        const busySeconds = seconds > 0 ? seconds : undefined;
        pace.push(
          step,
          { step, ...words[step], unit: "bytes", position, total, busySeconds, ...(done && { done }) },
          done,
        );
      });
    } finally {
      pace.close();
    }
    const bytes = progress.fetched;
    tell("download", { step: "download", ...words.download, ...sized(bytes), done: true });
    // Said before an engine says anything of it, if it does at all: whoever waits goes on waiting.
    tell("image", { step: "image", ...words.image, unit: "bytes" });
    return this.#arrived(reference, words.image, bytes === 0 ? null : bytes, signal, tell);
  }

  async #import(archive: Archive, signal: AbortSignal, tell: Tell): Promise<EngineImage> {
    const words = { label: "Image imported from archive", activeLabel: "Importing image from archive" };
    const pace = new Pace<ImageNews>(this.#clock, REPORT_EVERY_MS, tell);
    const file = createReadStream(archive.path, { highWaterMark: 1 << 20 });
    let position = 0;
    const step = { step: "image", ...words, unit: "bytes", total: archive.size } as const;
    pace.push("image", { ...step, position: 0 });
    file.on("data", (chunk) => {
      position += chunk.length;
      pace.push("image", { ...step, position });
    });
    try {
      // An imported filesystem has no configuration: without a path nothing in it would be found.
      const changes = ["ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"];
      // With its tag in the name: Podman does not look at a tag beside it.
      const options = { repo: archive.reference, changes, abortSignal: signal };
      await follow(await this.#docker.importImage(file, options), `import ${archive.path}`);
    } finally {
      pace.close();
      file.destroy();
    }
    return this.#arrived(archive.reference, words, archive.size, signal, tell);
  }

  /** An engine may end its answer early and call it success: the image counts when it can be looked at. */
  async #arrived(
    reference: string,
    words: Pick<ImageNews, "label" | "activeLabel">,
    bytes: number | null,
    signal: AbortSignal,
    tell: Tell,
  ): Promise<EngineImage> {
    const image = await this.find(reference, signal);
    if (image === null)
      throw new Error(`The engine ended its work on ${reference} and does not have the image`);
    tell("image", { step: "image", ...words, ...sized(bytes), done: true });
    return image;
  }
}

/** All bytes of something that is complete. What nobody counted is not said to be nothing. */
function sized(bytes: number | null): Pick<ImageNews, "unit" | "position" | "total"> {
  return bytes === null ? { unit: "bytes" } : { unit: "bytes", position: bytes, total: bytes };
}

/** An image that is there, and was not fetched for this sandbox. */
function foundAs(label: string, { bytes }: EngineImage): ImageNews {
  return { step: "image", label, ...sized(bytes), done: true };
}

/** The same work as a sandbox sees it for which it is not done: a wait, which is a step of its own. */
function waitingFor(news: ImageNews): ImageNews {
  const { step, label, activeLabel = label } = news;
  const words = { label: `${label} for another sandbox`, activeLabel: `${activeLabel} for another sandbox` };
  return { ...news, ...words, step: `${step}-wait`, waiting: true };
}

/** Reads an answer to its end. An error in the middle of it carries no code, so it is taken as one that may pass. */
async function follow(
  stream: NodeJS.ReadableStream,
  what: string,
  take: (message: Readonly<Record<string, unknown>>) => void = () => undefined,
): Promise<void> {
  for await (const message of jsonLines(stream)) {
    const failure = failureIn(message);
    if (failure !== null) throw new Error(`The engine could not ${what}: ${failure}`);
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
