import type { Clock } from "slipway";
import { lstat, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { digestOf } from "../record/digest.js";
import type { ImageSpec } from "../record/record.js";
import { PermanentDriverError, type DriverProgress, type LaunchRequest } from "./driver.js";
import { ByteMeter } from "./image/byte-meter.js";
import { copyTree, planTree, type TreePlan } from "./image/copy-tree.js";
import { ImageRoot } from "./image/image-root.js";
import { EscapingEntryError } from "./image/safe-path.js";
import { EmptyArchiveError, unpackTar, UnreadableArchiveError } from "./image/unpack-tar.js";
import type { ProcessOptions } from "./process-options.js";
import { removeStaging, type SandboxDirs } from "./sandbox-dirs.js";
import { refuseOvertaken } from "./supervisor-process.js";

/** A few reports a second keep a line on a terminal lively; each one is a committed write. */
const REPORT_EVERY_MS = 250;

const MARKER = "image.json";

export interface PrepareOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  readonly report: (progress: DriverProgress) => void;
}

/**
 * Brings the image into the sandbox's own directory, once.
 *
 * Everything is written below a staging directory of this very run and renamed into place when it is complete, so
 * that whatever stands in place is complete. When anything goes wrong, or the signal aborts, the staging is removed
 * before the promise rejects.
 */
export async function prepareImage(
  request: LaunchRequest,
  dirs: SandboxDirs,
  options: ProcessOptions,
  context: PrepareOptions,
): Promise<void> {
  const { instance } = request;
  const image = localImage(request.image);
  const step = { step: "image", subject: image.name, unit: "bytes" as const };
  // Also when nothing is to be copied: what a run that was killed had staged would stay for good.
  await removeStaging(dirs, instance);
  const staging = dirs.stagingOf(instance);
  try {
    const source = await sourceOf(image, context.signal);
    const identity = source.identity;
    if ((await identityOf(dirs.image)) === identity) {
      context.report({ ...step, label: "Image reused", unit: "none", done: true });
      return;
    }
    await mkdir(join(staging, "rootfs"), { recursive: true });
    const words =
      source.kind === "directory"
        ? { label: "Image copied", activeLabel: "Copying image" }
        : { label: "Image unpacked", activeLabel: "Unpacking image" };
    const fillContext = {
      ...context,
      report: (progress: { position: number; total: number }) =>
        context.report({ ...progress, ...step, ...words }),
    };
    const total = await fill(image, source, join(staging, "rootfs"), options, fillContext);
    await writeFile(join(staging, MARKER), JSON.stringify({ identity }));
    context.signal.throwIfAborted();
    await refuseOvertaken(dirs, instance);
    await rm(dirs.image, { recursive: true, force: true });
    await rename(staging, dirs.image);
    await removeStaging(dirs, instance);
    context.report({ ...step, ...words, position: total, total, done: true });
  } catch (error) {
    await removeStaging(dirs, instance);
    throw asDriverError(error, image);
  }
}

/** An image of this driver: one that lies on this machine. */
type LocalImage = ImageSpec & { readonly path: string };

function localImage(image: ImageSpec): LocalImage {
  const { path } = image;
  if (path === undefined)
    throw new PermanentDriverError("LocalImageNotFound", `The image ${image.name} has no path`);
  return { ...image, path };
}

/** What there is to bring in, and the name of exactly this content. */
type Source =
  | { readonly kind: "directory"; readonly identity: string; readonly plan: TreePlan }
  | { readonly kind: "archive"; readonly identity: string; readonly size: number };

/**
 * Looks at the image. The identity of a directory covers every entry that would be copied, because a change deep
 * inside leaves the directory on top as it was. Times of change are in it beside times of modification: builds that
 * can be repeated set the latter to a constant.
 */
async function sourceOf(image: LocalImage, signal: AbortSignal): Promise<Source> {
  const source = await stat(image.path).catch((error: unknown) => {
    throw new PermanentDriverError(
      "LocalImageNotFound",
      `The image ${image.path} cannot be read: ${textOf(error)}`,
    );
  });
  const named = { path: image.path, include: image.include ?? null };
  if (source.isDirectory()) {
    await checkParts(image);
    const plan = await planTree(image.path, image.include, signal);
    const entries = plan.entries.map((entry) => ({ ...entry }));
    return { kind: "directory", plan, identity: digestOf({ ...named, entries }) };
  }
  if (source.isFile()) {
    const { size, mtimeMs, ctimeMs } = source;
    return { kind: "archive", size, identity: digestOf({ ...named, size, mtimeMs, ctimeMs }) };
  }
  throw new PermanentDriverError(
    "LocalImageUnusable",
    `The image ${image.path} is neither a directory nor an archive`,
  );
}

type FillContext = Omit<PrepareOptions, "report"> & {
  report: (progress: { position: number; total: number }) => void;
};

/** A part that is not there is a mistake in the request: no second attempt finds it. */
async function checkParts({ name, path, include }: LocalImage): Promise<void> {
  for (const part of include ?? []) {
    await lstat(join(path, part)).catch((error: unknown) => {
      throw new PermanentDriverError(
        "LocalImageNotFound",
        `The image ${name} has no ${part}: ${textOf(error)}`,
      );
    });
  }
}

/** Writes the image's content below `rootfs`; how many bytes of the source that took. */
async function fill(
  image: LocalImage,
  source: Source,
  rootfs: string,
  options: ProcessOptions,
  context: FillContext,
): Promise<number> {
  if (source.kind === "archive") {
    const meter = meterFor(source.size, options, context);
    await unpackTar(image.path, new ImageRoot(rootfs), meter, context);
    return source.size;
  }
  const { plan } = source;
  if (plan.totalBytes > context.maxBytes) {
    throw new PermanentDriverError(
      "LocalImageTooLarge",
      `The image ${image.name} has ${plan.totalBytes} bytes, and the driver takes ${context.maxBytes}`,
    );
  }
  const meter = meterFor(plan.totalBytes, options, context);
  await copyTree(image.path, plan, new ImageRoot(rootfs), meter, context.signal);
  return plan.totalBytes;
}

function meterFor(total: number, options: ProcessOptions, context: FillContext): ByteMeter {
  return new ByteMeter({
    clock: context.clock,
    signal: context.signal,
    reportEveryMs: REPORT_EVERY_MS,
    report: (position) => context.report({ position: Math.min(position, total), total }),
    bytesPerSecond: options.bytesPerSecond,
    stallAtBytes: options.fault?.stallAtBytes,
    repeatReports: options.fault?.repeatReports,
  });
}

async function identityOf(image: string): Promise<string | null> {
  try {
    const marker: unknown = JSON.parse(await readFile(join(image, MARKER), "utf8"));
    return (marker as { identity?: string }).identity ?? null;
  } catch {
    return null;
  }
}

/** What no second attempt can mend is told apart from what one might: a full disk, a file that vanished. */
function asDriverError(error: unknown, image: LocalImage): unknown {
  if (error instanceof EscapingEntryError) {
    return new PermanentDriverError("LocalImageUnusable", `${image.name}: ${error.message}`, {
      cause: error,
    });
  }
  if (!(error instanceof EmptyArchiveError || error instanceof UnreadableArchiveError)) return error;
  const message = `${image.name} (${dirname(image.path)}) is not a readable archive: ${textOf(error)}`;
  return new PermanentDriverError("LocalImageUnusable", message, { cause: error });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
