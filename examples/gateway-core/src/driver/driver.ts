import type { ExpectedRun, Observation, ObservedSandbox, Page, PhasePolicy, WatchEvent } from "slipway";
import type { Json, JsonObject } from "../record/json.js";
import type { ImageSpec } from "../record/record.js";
import type { ReportedStep } from "../record/steps.js";

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

/** Which of two starts of one sandbox came later. */
export type Start = Pick<InstanceRef, "attemptNumber" | "run">;

/** What the supervisor needs to reach the gateway. The token is a secret: it goes into the environment only. */
export interface SupervisorAccess {
  readonly url: string;
  readonly token: string;
  /** How long its bootstrap may take until the gateway says how long, milliseconds. */
  readonly budgetMs?: number | undefined;
}

export interface LaunchRequest {
  readonly sandbox: SandboxRef;
  readonly instance: InstanceRef;
  readonly image: ImageSpec;
  /** The main process, which the supervisor starts once it was admitted. */
  readonly command: readonly string[];
  readonly options: JsonObject;
  /** The isolation backend that the sandbox is pinned to, for drivers that know several. `null`: none. */
  readonly isolationBackend?: string | null | undefined;
  readonly access: SupervisorAccess;
}

/** A sign of work. */
export interface DriverProgress extends ReportedStep {
  /**
   * Nothing is done here: somebody else's work on the same thing is waited for, for instance another sandbox's export.
   * Until the next report without it, or the step's end, the budget of preparation stands still.
   */
  readonly waiting?: boolean | undefined;
}

export interface LaunchContext {
  /** Aborts at any instant; the driver stops, removes what it staged, and rejects. */
  readonly signal: AbortSignal;
  report(progress: DriverProgress): void;
}

export interface WorkContext {
  readonly signal: AbortSignal;
  /**
   * The latest start that the call is meant for, with those before it. A gateway that was held up may ask when another
   * one has long begun a newer start: a driver that can tell them apart leaves the newer one alone. Absent: all.
   */
  readonly upTo?: Start | undefined;
}

/**
 * One compute backend. Translate, call, report progress: no decision about deadlines, phases or retries is made here.
 *
 * A driver marks whatever it makes with the sandbox's id and the id of the instance (one start of the workload), so
 * that it finds it again after any restart, and so that one run is never taken for another.
 */
export interface Driver {
  readonly name: string;
  /** Reasons of its own that its permanent errors carry, beside those of the gateway's catalog. */
  readonly reasons?: readonly string[] | undefined;
  /** What the phase rules have to know of this backend. */
  readonly policy?: PhasePolicy | undefined;
  /**
   * Whether the gateway stops what runs when it ends and starts it again when it is back, as a backend needs it whose
   * workloads do not outlive the gateway's machine. Default: it does not.
   */
  readonly managesLifecycle?: boolean | undefined;
  /**
   * Whether what it runs is found by the data directory, so that gateways which share a store must share that as well:
   * one with another directory is refused. Default: the backend itself knows.
   */
  readonly findsByData?: boolean | undefined;
  /** Checks the driver's part of a create request; throws `InvalidInputError` naming the field. */
  check(image: ImageSpec, options: JsonObject): Promise<void>;
  /**
   * Prepares the image and starts the supervisor. Idempotent for one instance; resolves with the handle of what was
   * started once it was started, not once it is ready. Rejects with `PermanentDriverError` when trying again cannot
   * help; anything else is tried again within the same deadline.
   */
  launch(request: LaunchRequest, context: LaunchContext): Promise<Json>;
  /**
   * The facts of one sandbox, right now, also of one whose handle was never written down. A definite not-found is an
   * observation with `exists: false`; `null` or a rejection is no observation. `instanceId` of the result is the
   * gateway's id of the instance that was seen, and evidence about another instance than `run` names is `stale`.
   */
  observe(
    sandbox: SandboxRef,
    run: ExpectedRun,
    handle: Json | null,
    context: WorkContext,
  ): Promise<Observation | null>;
  /** Everything that carries this gateway's mark, page by page. Rejects when the backend does not answer. */
  list(cursor: string | null, context: WorkContext): Promise<Page<ObservedSandbox>>;
  /** News until the stream breaks: a hint to look, never evidence. After a break it is opened anew, and swept. */
  watch(context: WorkContext): AsyncIterable<WatchEvent>;
  /** Ends whatever runs for the sandbox. Idempotent. The workspace stays. */
  stop(sandbox: SandboxRef, context: WorkContext): Promise<void>;
  /** Ends whatever runs and removes what was staged. Idempotent. The workspace stays. */
  cleanUp(sandbox: SandboxRef, context: WorkContext): Promise<void>;
  /** Removes everything, the workspace included. Idempotent. */
  remove(sandbox: SandboxRef, context: WorkContext): Promise<void>;
  /**
   * Lets go of what it holds of this process (sockets, timers); whatever runs goes on. The last call, of the gateway
   * that made the driver: when it ends, and when it did not come up.
   */
  close?(): Promise<void>;
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
