import { acceptOperation } from "./accept-operation.js";
import { checkFunction, checkObject, checkOperation } from "./check-input.js";
import { allowedOperations, type GateDecision, type Operation, type OperationRoute } from "./gates/index.js";
import type { KeyedLock } from "./keyed-lock.js";
import type { Observation } from "./observation.js";
import type { StoredRecord } from "./ports.js";
import type { ResolvedReconcilerOptions } from "./reconciler-options.js";
import type { SandboxRecord } from "./record.js";
import { resolveFailedOperation } from "./resolve-failed-operation.js";

/**
 * A driver call, as an operation makes it.
 *
 * @public
 */
export interface OperationCall {
  /** The sandbox. */
  readonly id: string;
  /** How the gate says that it is to be carried out. */
  readonly route: OperationRoute;
  /** As written before the call. */
  readonly record: SandboxRecord;
  /** Aborts when a later operation takes over or the reconciler closes. */
  readonly signal: AbortSignal;
}

/**
 * How an operation is to be carried out.
 *
 * @public
 */
export interface OperateOptions {
  /** Default `user`. */
  readonly by?: "user" | "automatic" | undefined;
  /** Identity for the run that a start opens. */
  readonly instanceId?: string | undefined;
  /** Makes the driver call. A rejection is the failure of the operation. */
  readonly call: (call: OperationCall) => Promise<unknown>;
}

/**
 * How an operation ended.
 *
 * - `done`: the driver call succeeded; what it led to shows in the next look. `noop`: there was nothing to do.
 * - `overtaken`: a later operation, or any newer write, decides instead, or the reconciler was closed: no driver call
 *   was made, and an intent that was written stays for whoever comes next.
 * - `failed`: the driver call threw; `record` is what was made of it.
 *
 * @public
 */
export interface OperationOutcome {
  /** How it ended. */
  readonly outcome: "done" | "noop" | "refused" | "overtaken" | "failed" | "conflict" | "no-record";
  /** The gate's answer; `null` where it was not reached. */
  readonly gate: GateDecision | null;
  /** The record as it is stored now; `null` where it is not known or gone. */
  readonly record: SandboxRecord | null;
  /** What the driver call threw; `null` otherwise. */
  readonly error: unknown;
}

/**
 * The operation of a sandbox that has the driver, or waits for it.
 *
 * @internal
 */
export interface RunningOperation {
  readonly operation: Operation;
  readonly controller: AbortController;
  readonly outcome: Promise<OperationOutcome>;
}

/** @internal */
export interface OperationHost {
  readonly options: ResolvedReconcilerOptions;
  readonly locks: KeyedLock;
  readonly running: Map<string, RunningOperation>;
  /** Aborts when the reconciler closes: no driver call begins after that. */
  readonly closing: AbortSignal;
  readonly observe: (stored: StoredRecord) => Promise<Observation | null>;
}

/** How often an intent is decided again after somebody else wrote. */
const ACCEPT_TRIES = 3;

interface Accepted {
  readonly gate: GateDecision & { readonly allowed: true };
  readonly previous: SandboxRecord;
  readonly stored: StoredRecord;
  /** Whether the intent had to be written: it was another one, or another operation's. */
  readonly written: boolean;
}

/** @internal */
export async function runOperation(
  host: OperationHost,
  id: string,
  operation: Operation,
  options: OperateOptions,
): Promise<OperationOutcome> {
  checkCall(operation, options);
  const accepted = await accept(host, id, operation, options);
  if ("outcome" in accepted) return accepted;
  const { gate } = accepted;
  const before = host.running.get(id);
  if (gate.route === "noop") {
    // A start under way is not wanted any more, though the stop or the delete itself leaves nothing to do.
    if (accepted.written && before?.operation !== operation) before?.controller.abort();
    return ended("noop", gate, accepted.stored.record);
  }
  if (before?.operation === operation && gate.route === "retry") return before.outcome;
  before?.controller.abort();
  const controller = new AbortController();
  // It closed while the gate was asked: whoever closes waits, but knows nothing of this signal yet.
  if (host.closing.aborted) controller.abort();
  const outcome = host.locks.run(id, () => carryOut(host, accepted, operation, options, controller.signal));
  const running: RunningOperation = { operation, controller, outcome };
  host.running.set(id, running);
  try {
    return await outcome;
  } finally {
    if (host.running.get(id) === running) host.running.delete(id);
  }
}

/** A mistake is to be told before an intent is written that nothing could carry out. */
function checkCall(operation: Operation, options: OperateOptions): void {
  checkOperation(operation);
  checkObject("options", options);
  checkFunction("call", options.call);
}

/** Gate and durable intent, decided again on a conflict: the later writer sees what the earlier one wrote. */
async function accept(
  host: OperationHost,
  id: string,
  operation: Operation,
  { by = "user", instanceId }: OperateOptions,
): Promise<Accepted | OperationOutcome> {
  const { store, clock, policy, backendMatches } = host.options;
  for (let tries = 0; tries < ACCEPT_TRIES; tries += 1) {
    const stored = await store.get(id);
    if (stored === null) return ended("no-record", null, null);
    const observation = operation === "stop" ? null : await host.observe(stored);
    // A look that closing cut short says nothing, and an intent written now would be carried out by nobody here.
    if (host.closing.aborted) return ended("overtaken", null, stored.record);
    const now = clock.now();
    const { record } = stored;
    const gate = allowedOperations({
      record,
      observation,
      backendMatches: backendMatches(id, record),
      by,
      now,
      policy,
    })[operation];
    if (!gate.allowed) return ended("refused", gate, record);
    const next = acceptOperation(record, operation, gate, { now, instanceId });
    if (!next.changed) return { gate, previous: record, stored, written: false };
    const written = await store.compareAndSwap(id, stored.version, next.record);
    if (written !== null) return { gate, previous: record, stored: written, written: true };
  }
  return ended("conflict", null, null);
}

async function carryOut(
  host: OperationHost,
  { gate, previous, stored }: Accepted,
  operation: Operation,
  { call }: OperateOptions,
  signal: AbortSignal,
): Promise<OperationOutcome> {
  const { store } = host.options;
  const { id } = stored;
  const present = await store.get(id);
  if (present === null || !isStillWanted(present.record, stored.record))
    return ended("overtaken", gate, present?.record ?? null);
  if (signal.aborted) return ended("overtaken", gate, present.record);
  try {
    await call({ id, route: gate.route, record: present.record, signal });
    return ended("done", gate, present.record);
  } catch (error) {
    return await recover(host, present, previous, operation, gate, error);
  }
}

function isSameIntent(present: SandboxRecord, accepted: SandboxRecord): boolean {
  return (
    present.desired === accepted.desired &&
    (present.startRequestedAt ?? null) === (accepted.startRequestedAt ?? null)
  );
}

/** The intent that this operation wrote still stands; readiness and diagnostics may have been written since. */
function isStillWanted(present: SandboxRecord, accepted: SandboxRecord): boolean {
  return (
    isSameIntent(present, accepted) &&
    (present.phase === accepted.phase || present.phase === "Ready" || present.phase === "Stopped")
  );
}

/**
 * What the failure makes of the record as it is by now: a look that another pass wrote meanwhile does not cost the
 * operation its outcome, a later intent does.
 */
async function recover(
  host: OperationHost,
  called: StoredRecord,
  previous: SandboxRecord,
  operation: Operation,
  gate: GateDecision,
  error: unknown,
): Promise<OperationOutcome> {
  const { store, clock, policy } = host.options;
  for (let tries = 0; tries < ACCEPT_TRIES; tries += 1) {
    const current = await store.get(called.id);
    if (current === null || !isSameIntent(current.record, called.record)) break;
    const { record } = current;
    // What a delete gives back wants to run again: under delete intent any end would count, the run's before too.
    const observation = await host.observe(
      operation === "delete" ? { ...current, record: previous } : current,
    );
    const resolved = resolveFailedOperation(record, previous, operation, observation, clock.now(), policy);
    if (!resolved.changed) return { outcome: "failed", gate, record: resolved.record, error };
    const written = await store.compareAndSwap(current.id, current.version, resolved.record);
    if (written !== null) return { outcome: "failed", gate, record: written.record, error };
  }
  return { outcome: "overtaken", gate, record: null, error };
}

function ended(
  outcome: OperationOutcome["outcome"],
  gate: GateDecision | null,
  record: SandboxRecord | null,
): OperationOutcome {
  return { outcome, gate, record, error: null };
}
