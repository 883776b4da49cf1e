import { formatQuantity, printable } from "./quantity.js";
import type { StepDefinition } from "./step-definition.js";
import type { StepEvent } from "./step-event.js";
import { formatStep } from "./format-step.js";
import { liveliest, type StepReading } from "./step-reading.js";

/** The keys under which OpenShell's events carry progress. @public */
export const OpenShellProgressKey = Object.freeze({
  /** The step that an event completes. */
  completeStep: "openshell.progress.complete_step",
  /** The label of the completed step. */
  completeLabel: "openshell.progress.complete_label",
  /** The step that is under way. */
  activeStep: "openshell.progress.active_step",
  /** How far the step under way has come, as text. */
  activeDetail: "openshell.progress.active_detail",
} as const);

/** OpenShell's steps, in their order. Readers keep names that are not among them. @public */
export const openShellStepNames = Object.freeze([
  "requesting_sandbox",
  "pulling_image",
  "starting_sandbox",
] as const);

/** A step of OpenShell. @public */
export type OpenShellStep = (typeof openShellStepNames)[number];

/** Metadata of an event: text under keys. @public */
export type EventMetadata = Readonly<Record<string, string>>;

/**
 * What an event's metadata says about progress. What it does not say is `null`; unknown steps stay as they are.
 *
 * @public
 */
export interface OpenShellProgress {
  /** The step that this event completes. */
  readonly completeStep: string | null;
  /** The label of the completed step. */
  readonly completeLabel: string | null;
  /** The step that is under way. */
  readonly activeStep: string | null;
  /** How far the step under way has come, as text. */
  readonly activeDetail: string | null;
}

/**
 * Reads the progress in an event's metadata. Total: what is no text is as if it were not there.
 *
 * @example
 * ```ts
 * import { readOpenShellProgress } from "slipway/progress";
 *
 * readOpenShellProgress({ "openshell.progress.active_step": "pulling_image" }).activeStep; // => "pulling_image"
 * ```
 *
 * @public
 */
export function readOpenShellProgress(metadata: unknown): OpenShellProgress {
  return {
    completeStep: textAt(metadata, OpenShellProgressKey.completeStep),
    completeLabel: textAt(metadata, OpenShellProgressKey.completeLabel),
    activeStep: textAt(metadata, OpenShellProgressKey.activeStep),
    activeDetail: textAt(metadata, OpenShellProgressKey.activeDetail),
  };
}

/**
 * The metadata that tells OpenShell's readers what changed between two readings of the same steps, `null` when
 * nothing did that they could see. Several steps may be one of theirs: that is complete once all of it that began is
 * finished and either nothing of it is left or a later one has begun. One that begins again is complete again once it
 * is finished again, and is named again: OpenShell's readers keep the first time.
 *
 * @param before - The readings at the latest metadata, `[]` for the first.
 * @param stepOf - Which of OpenShell's steps a step belongs to. `null`: none, it is not shown.
 *
 * @example
 * ```ts
 * import { StepTracker, toOpenShellProgress } from "slipway/progress";
 *
 * using tracker = new StepTracker([{ step: "export", label: "Image exported", subject: "local-big:1" }]);
 * tracker.report("export", "local-big:1", 512_000_000);
 * const metadata = toOpenShellProgress([], tracker.readings(), () => "pulling_image");
 * metadata?.["openshell.progress.active_detail"]; // => "Image exported (local-big:1, 512 MB)"
 * ```
 *
 * @public
 */
export function toOpenShellProgress(
  before: readonly StepReading[],
  after: readonly StepReading[],
  stepOf: (step: string) => OpenShellStep | null,
): EventMetadata | null {
  const metadata: Record<string, string> = {};
  const known = new Set(completeSteps(before, stepOf));
  // One event names one complete step: of two at once the later, which implies the earlier.
  const complete = completeSteps(after, stepOf)
    .filter((step) => !known.has(step))
    .at(-1);
  if (complete !== undefined) {
    metadata[OpenShellProgressKey.completeStep] = complete;
    metadata[OpenShellProgressKey.completeLabel] = completeLabel(
      after.filter(({ step }) => stepOf(step) === complete),
    );
  }
  const was = activeReading(before, stepOf);
  const is = activeReading(after, stepOf);
  if (is !== undefined) {
    const step = stepOf(is.step);
    const detail = activeDetail(is);
    const same = was !== undefined && stepOf(was.step) === step;
    if (step !== null && !same) metadata[OpenShellProgressKey.activeStep] = step;
    if (!same || activeDetail(was) !== detail) metadata[OpenShellProgressKey.activeDetail] = detail;
  }
  return Object.keys(metadata).length === 0 ? null : metadata;
}

function activeReading(
  readings: readonly StepReading[],
  stepOf: (step: string) => OpenShellStep | null,
): StepReading | undefined {
  return liveliest(readings.filter(({ step }) => stepOf(step) !== null));
}

function completeSteps(
  readings: readonly StepReading[],
  stepOf: (step: string) => OpenShellStep | null,
): readonly OpenShellStep[] {
  return openShellStepNames.filter((name, place) => {
    const own = readings.filter(({ step }) => stepOf(step) === name);
    if (!own.some(({ finished }) => finished) || own.some(({ status }) => status === "running")) return false;
    if (own.every(({ finished }) => finished)) return true;
    return readings.some(({ step, status }) => {
      const other = stepOf(step);
      return other !== null && openShellStepNames.indexOf(other) > place && status !== "waiting";
    });
  });
}

function completeLabel(own: readonly StepReading[]): string {
  const finished = own.filter((reading) => reading.finished);
  const reading = finished.find(({ position }) => position !== null) ?? finished[0];
  if (reading === undefined) return "";
  const size = reading.position === null ? "" : formatQuantity(reading.position, reading.unit);
  const facts = [printable(reading.subject), size].filter((text) => text !== "");
  const label = printable(reading.label);
  return facts.length === 0 ? label : `${label} (${facts.join(", ")})`;
}

/** Without the mark and the time, which OpenShell's readers add themselves. */
function activeDetail(reading: StepReading): string {
  const line = formatStep({ ...reading, quietMs: 0 });
  return line.slice(2, line.lastIndexOf(" ("));
}

/** An event of an OpenShell driver, as far as progress goes. */
export interface OpenShellEvent {
  /** `docker`, `kubernetes`, `vm`, ... */
  readonly source?: string | undefined;
  /** The driver's word for what happened. */
  readonly reason?: string | undefined;
  /** The event's metadata. Absent: none. */
  readonly metadata?: EventMetadata | undefined;
}

/** What the sandbox was asked for with: the subjects of OpenShell's steps. */
export interface OpenShellRequest {
  /** Reference of the image that was asked for. */
  readonly image: string;
  /** Name of the sandbox. */
  readonly sandbox: string;
}

/**
 * OpenShell's three steps for a sandbox, to make a tracker of.
 *
 * @example
 * ```ts
 * import { openShellSteps, StepTracker } from "slipway/progress";
 *
 * using tracker = new StepTracker(openShellSteps({ image: "local-big:1", sandbox: "dev" }));
 * tracker.read("pulling_image")?.subject; // => "local-big:1"
 * ```
 *
 * @public
 */
export function openShellSteps({ image, sandbox }: OpenShellRequest): readonly StepDefinition[] {
  return [
    {
      step: "requesting_sandbox",
      label: "Sandbox allocated",
      activeLabel: "Requesting sandbox",
      subject: sandbox,
    },
    { step: "pulling_image", label: "Image prepared", activeLabel: "Preparing image", subject: image },
    { step: "starting_sandbox", label: "Sandbox ready", activeLabel: "Starting sandbox", subject: sandbox },
  ];
}

/** Reasons that speak of the image's preparation going on, and of what comes after it. */
const PREPARING = new Set([
  "Pulling",
  "PullingLayer",
  "ResolvingImage",
  "AuthenticatingRegistry",
  "FetchingManifest",
  "CacheMiss",
  "WaitingForImageCacheLock",
  "ExportingRootfs",
  "CreatingRootDisk",
  "PreparingRootfs",
]);
const STARTING = new Set(["PreparingOverlay", "Created", "Started"]);
const PREPARED = new Set(["CacheHit", "ImagePresent", "Pulled"]);

/**
 * What an OpenShell driver's event means for the steps of {@link openShellSteps}. Total: an event that says nothing
 * about progress means nothing.
 *
 * The image step is completed for the image that the event names, and a tracker refuses any other than the one asked
 * for: the bootstrap image's `Pulled` completes nothing. A completion that names no image completes nothing either;
 * the step after it will. On a VM a pulled image still has to become a root disk, so `Pulled` completes nothing there.
 *
 * @example
 * ```ts
 * import { openShellStepEvents } from "slipway/progress";
 *
 * const request = { image: "local-big:1", sandbox: "dev" };
 * openShellStepEvents({ reason: "Pulled", metadata: { image_ref: "bootstrap:1" } }, request); // => [{ type: "finish", step: "pulling_image", subject: "bootstrap:1" }]
 * ```
 *
 * @public
 */
export function openShellStepEvents(event: OpenShellEvent, request: OpenShellRequest): readonly StepEvent[] {
  const { completeStep, activeStep } = readOpenShellProgress(event.metadata);
  const reason = event.reason ?? "";
  const image = textAt(event.metadata, "image_ref");
  const onVm = event.source === "vm" && reason === "Pulled";
  const isPrepared = completeStep === "pulling_image" || PREPARED.has(reason);
  const events: StepEvent[] = [];
  if (isPrepared && image !== null && !onVm) {
    events.push({ type: "finish", step: "pulling_image", subject: image });
  }
  if (completeStep === "requesting_sandbox" || completeStep === "starting_sandbox") {
    events.push({ type: "finish", step: completeStep, subject: request.sandbox });
  }
  const active =
    activeStep ??
    (STARTING.has(reason) ? "starting_sandbox" : PREPARING.has(reason) ? "pulling_image" : null);
  if (active === "pulling_image") events.push(alive(active, image ?? request.image));
  // A step that begins ends those before it: what completes nothing begins nothing either.
  const isWithheld = isPrepared && (onVm || (image !== null && image !== request.image));
  if (!isWithheld && (active === "requesting_sandbox" || active === "starting_sandbox"))
    events.push(alive(active, request.sandbox));
  return events;
}

/** Begins a step, and leaves one alone that has begun or is finished: drivers repeat and replay their events. */
function alive(step: OpenShellStep, subject: string): StepEvent {
  return { type: "report", step, subject, position: 0, unit: "events" };
}

function textAt(metadata: unknown, key: string): string | null {
  if (typeof metadata !== "object" || metadata === null || !Object.hasOwn(metadata, key)) return null;
  const value = (metadata as Record<string, unknown>)[key];
  return typeof value === "string" && value !== "" ? value : null;
}
