import type { Json, JsonObject } from "../record/json.js";
import type { ImageSpec } from "../record/record.js";

/** Which sandbox a call is about. The driver derives every name and place it uses from these. */
export interface SandboxRef {
  readonly id: string;
  readonly name: string;
}

/** One start of the workload, minted by the gateway. A higher `run` means that the work begins again. */
export interface InstanceRef {
  readonly id: string;
  readonly attemptNumber: number;
  readonly run: number;
}

/** What the supervisor needs to reach the gateway. The token is a secret: it goes into the environment only. */
export interface SupervisorAccess {
  readonly url: string;
  readonly token: string;
}

export interface LaunchRequest {
  readonly sandbox: SandboxRef;
  readonly instance: InstanceRef;
  readonly image: ImageSpec;
  /** The main process, which the supervisor starts once it was admitted. */
  readonly command: readonly string[];
  readonly options: JsonObject;
  readonly access: SupervisorAccess;
}

/** A sign of work. Positions of one step only rise; `done` is said once. */
export interface DriverProgress {
  readonly step: string;
  /** For people, of the finished step: `Image copied`. */
  readonly label: string;
  /** What the step is about: the image's name, not some other image's. */
  readonly subject: string;
  readonly unit: "bytes" | "none";
  /** A layer or chunk of the step; parts add up. */
  readonly part?: string | undefined;
  readonly position?: number | undefined;
  /** Absent when it is not known: a percentage is never made up. */
  readonly total?: number | undefined;
  readonly done?: boolean | undefined;
}

export interface LaunchContext {
  /** Aborts at any instant; the driver stops, removes what it staged, and rejects. */
  readonly signal: AbortSignal;
  report(progress: DriverProgress): void;
}

/** Whether the instance's supervisor is there. `handle` names it from now on. */
export type Observation =
  | { readonly state: "running"; readonly handle: Json }
  | { readonly state: "gone" }
  | { readonly state: "unknown" };

export interface WorkContext {
  readonly signal: AbortSignal;
}

/**
 * One compute backend. Translate, call, report progress: no decision about deadlines, phases or retries is made here,
 * and nothing but progress comes from here.
 */
export interface Driver {
  readonly name: string;
  /** Checks the driver's part of a create request; throws `InvalidInputError` naming the field. */
  check(image: ImageSpec, options: JsonObject): Promise<void>;
  /**
   * Prepares the image and starts the supervisor. Idempotent for one instance; resolves with the handle of the
   * started supervisor once it was started, not once it is ready.
   */
  launch(request: LaunchRequest, context: LaunchContext): Promise<Json>;
  /** Looks for the supervisor of an instance, also one whose handle was never written down. */
  observe(sandbox: SandboxRef, instance: InstanceRef, handle: Json | null): Promise<Observation>;
  /** Resolves when the supervisor is gone, however it was started. */
  waitUntilGone(sandbox: SandboxRef, handle: Json, context: WorkContext): Promise<void>;
  /** Ends whatever runs for the sandbox. Idempotent. The workspace stays. */
  stop(sandbox: SandboxRef, context: WorkContext): Promise<void>;
  /** Ends whatever runs and removes what was staged. Idempotent. The workspace stays. */
  cleanUp(sandbox: SandboxRef, context: WorkContext): Promise<void>;
  /** Removes everything, the workspace included. Idempotent. */
  remove(sandbox: SandboxRef, context: WorkContext): Promise<void>;
}

/** The driver cannot do it, and trying again will not help: the image is missing, or not an image. */
export class PermanentDriverError extends Error {
  override readonly name = "PermanentDriverError";
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
