import { hasMethod, invalid, kindOf, show } from "../../errors.js";
import type { AttemptContext } from "../attempt.js";
import { BootstrapRetrier } from "../bootstrap-retrier.js";
import { isFields, read } from "../classify/inspect.js";
import type { BootstrapRetrierOptions } from "../options.js";
import { hostRandom } from "../random.js";
import { Activation } from "./activate.js";
import type { ActivationEntry, ActivationLedger } from "./activation.js";

/** What a step gets, besides what every operation gets. */
export interface StepContext extends AttemptContext {
  /** Name of the step. */
  readonly step: string;
  /** Values of the steps before it, by name. */
  readonly results: Readonly<Record<string, unknown>>;
}

/**
 * One thing that has to succeed before the workload starts: the policy, the enforcement sidecar.
 *
 * @public
 */
export interface BootstrapStep {
  /** Unique in its sequence. */
  readonly name: string;
  /** Tried again until it succeeds; its value is kept for the steps after it. */
  run(context: StepContext): unknown;
}

/** What the start of the workload gets. */
export interface ActivateContext {
  /** The run of the workload that is to be started. */
  readonly instanceId: string;
  /** Values of all steps, by name. */
  readonly results: Readonly<Record<string, unknown>>;
}

/**
 * What has to succeed, what is started then, and where that is written.
 *
 * @public
 */
export interface BootstrapSequenceOptions {
  /** The run of the workload that is to be started: a new one for every start. */
  readonly instanceId: string;
  /** In order. */
  readonly steps: readonly BootstrapStep[];
  /** Starts the workload. Called at most once for an instance id, by anybody, ever. */
  readonly activate: (context: ActivateContext) => unknown;
  /** Where it is written that the workload was started: shared by all who may start it. */
  readonly ledger: ActivationLedger;
  /** One retrier, and so one deadline and one signal, for all steps; or the options of one. */
  readonly retrier?: BootstrapRetrier | BootstrapRetrierOptions | undefined;
}

/**
 * How a sequence ended that was not refused or cut short by an error.
 *
 * - `activated`: this call started the workload;
 * - `already-active`, `stopped`, `completed`: somebody else decided before; nothing was started here, except that
 *   `stopped` with `started: true` means that the stop came while the workload was being started, and that it has
 *   to be stopped;
 * - `activation-uncertain`: an activation began and nobody knows whether it took place. Never repeated: recover
 *   explicitly, with a new instance id and the same workspace.
 *
 * @public
 */
export interface BootstrapSequenceResult {
  /** How it ended. */
  readonly outcome: "activated" | "already-active" | "stopped" | "completed" | "activation-uncertain";
  /** Whether `activate` was called here. */
  readonly started: boolean;
  /** The ledger's entry afterwards, `null` when it could not be read. */
  readonly entry: ActivationEntry | null;
  /** Values of the steps that succeeded, by name. */
  readonly results: Readonly<Record<string, unknown>>;
  /** What `activate`, or the ledger after it, threw. */
  readonly error?: unknown;
}

/**
 * Runs the steps of a bootstrap in order, then starts the workload: never before all of them succeeded, and at most
 * once for an instance id, whatever crashes, restarts and repeats.
 *
 * Reads of the ledger are retried like a step. Rejects with what the retrier rejects with; the workload was not
 * started then.
 *
 * @throws {@link SlipwayError} `INVALID_OPTION` naming the field, before anything is read or run: a name that repeats or
 * is empty, and whatever is not what it has to be.
 *
 * @example
 * ```ts
 * import { bootstrapSequence } from "slipway/retry";
 * import { InMemoryActivationLedger } from "slipway/testing";
 *
 * const started: string[] = [];
 * const { outcome } = await bootstrapSequence({
 *   instanceId: "run-1",
 *   steps: [
 *     { name: "policy", run: () => ({ rules: [] }) },
 *     { name: "enforcement", run: ({ results }) => results["policy"] !== undefined },
 *   ],
 *   activate: ({ instanceId }) => started.push(instanceId),
 *   ledger: new InMemoryActivationLedger(),
 * });
 * [outcome, started]; // => ["activated", ["run-1"]]
 * ```
 *
 * @public
 */
export async function bootstrapSequence(options: BootstrapSequenceOptions): Promise<BootstrapSequenceResult> {
  const steps = checkedSteps(options);
  const { retrier: given = {} } = options;
  // Not by class, which a second copy of the package would not share.
  const retrier = "run" in given ? given : new BootstrapRetrier(given);
  return retrier.inParts((finish) => runSequence(options, steps, retrier, finish));
}

async function runSequence(
  { instanceId, ledger, activate }: BootstrapSequenceOptions,
  steps: readonly BootstrapStep[],
  retrier: BootstrapRetrier,
  finish: () => void,
): Promise<BootstrapSequenceResult> {
  const activation = new Activation(ledger, instanceId, newClaim(), retrier);
  const decided = await activation.look();
  if (decided !== null)
    return { outcome: decided.outcome, started: false, entry: decided.entry, results: {} };

  const results: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const step of steps) {
    results[step.name] = await retrier.run((context) => step.run(stepContext(step.name, context, results)));
  }
  Object.freeze(results);
  const end = await activation.take(() => activate({ instanceId, results }));
  finish();
  return { ...end, results };
}

/** All of it before anything is claimed: a mistake that shows later has burnt the instance. */
function checkedSteps(options: BootstrapSequenceOptions): readonly BootstrapStep[] {
  if (!isFields(options)) throw wrong("options", "an object", options);
  const { instanceId, steps, activate, ledger, retrier } = options;
  if (typeof instanceId !== "string" || instanceId === "")
    throw wrong("instanceId", "a text", instanceId, show(instanceId));
  if (typeof activate !== "function") throw wrong("activate", "a function", activate);
  if (!isFields(ledger)) throw wrong("ledger", "an ActivationLedger", ledger);
  for (const method of ["read", "compareAndSwap"] as const)
    if (!hasMethod(ledger, method)) throw wrong(`ledger.${method}`, "a function", read(ledger, method));
  if (retrier !== undefined && !isFields(retrier))
    throw wrong("retrier", "a BootstrapRetrier or the options of one", retrier);
  if (!Array.isArray(steps)) throw wrong("steps", "a list", steps);
  const names = new Set<string>();
  const list: readonly BootstrapStep[] = Array.from(steps);
  for (const [index, step] of list.entries()) {
    if (!isFields(step)) throw wrong(`steps[${index}]`, "a step", step);
    const { name } = step;
    if (typeof name !== "string" || name === "" || names.has(name))
      throw wrong(`steps[${index}].name`, "a text that no other step has", name, show(name));
    if (!hasMethod(step, "run")) throw wrong(`steps[${index}].run`, "a function", read(step, "run"));
    names.add(name);
  }
  return list;
}

function stepContext(
  step: string,
  context: AttemptContext,
  results: Readonly<Record<string, unknown>>,
): StepContext {
  return {
    step,
    results,
    attempt: context.attempt,
    get signal() {
      return context.signal;
    },
    get remainingMs() {
      return context.remainingMs;
    },
  };
}

/** Never the same for two callers, on whatever machines: drawn from the host, not from a seeded source. */
function newClaim(): string {
  const part = (): string =>
    Math.floor(hostRandom() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  return `${part()}${part()}${part()}${part()}`;
}

function wrong(field: string, expected: string, value: unknown, shown = kindOf(value)): Error {
  return invalid("INVALID_OPTION", "bootstrap sequence", field, expected, value, shown);
}
