import type { ExpectedRun, Observation, ObservedSandbox, Page, PhasePolicy, WatchEvent } from "slipway";
import type { Json, JsonObject } from "../record/json.js";
import type { ImageSpec } from "../record/record.js";
import type { LaunchContext, LaunchRequest, SandboxRef, WorkContext } from "./driver.js";

/**
 * One compute backend. Translate, call, report progress: no decision about deadlines, phases or retries is made here.
 *
 * A driver marks whatever it makes with the sandbox's id and the id of the instance (one start of the workload), so
 * that it finds it again after any restart, and so that one run is never taken for another.
 */
export interface DriverPort {
  readonly name: string;
  /** What the phase rules have to know of this backend. */
  readonly policy?: PhasePolicy | undefined;
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
}

/** Names the run that was seen by the gateway's own id, and marks news of another run than the expected one as stale. */
export function seenInstance(seen: Observation, instanceId: string | null, run: ExpectedRun): Observation {
  const expected = run.instanceId ?? null;
  const foreign = expected !== null && instanceId !== null && instanceId !== expected;
  return { ...seen, instanceId, stale: seen.stale || foreign };
}
