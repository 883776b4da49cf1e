import { applyExitReport, applySession } from "slipway";
import { constants } from "node:os";
import { ADMISSION, PREPARATION } from "../gateway/budgets.js";
import { isComingUp } from "../record/phase.js";
import { NOT_REPLAYED } from "../record/not-replayed.js";
import { isServed, isStoppedByOthers, type SandboxRecord } from "../record/record.js";
import { withBootstrapped } from "./bootstrapped.js";
import { applyToDeadline, observeTime, withCondition, withPhase, type Decision } from "./decision.js";
import { phaseFacts, withFacts } from "./phase-facts.js";
import { withoutSilence } from "./silence.js";
import { withWaiting } from "./waiting.js";

/** Ends of a bootstrap that no wait mends: the sandbox is in Error until somebody starts it again. */
export const BOOTSTRAP_FAILURES = [
  "BootstrapFailed",
  "BootstrapAttemptsExhausted",
  "LocalActivationUncertain",
] as const;

interface Finding {
  readonly reason: string;
  readonly message: string;
  readonly cause?: { readonly reason: string; readonly message: string } | undefined;
}

/** What a supervisor says. It was authenticated as the one of this attempt and run before any of this is looked at. */
export type SupervisorReport =
  | {
      readonly kind: "rejected";
      readonly generation: number;
      readonly reason: string;
      readonly message: string;
    }
  /** Where the bootstrap stands. */
  | ({ readonly kind: "bootstrap"; readonly succeeded: boolean } & Finding)
  /** It ended for good, and nothing was started, or nobody knows. */
  | ({ readonly kind: "bootstrap-failed"; readonly reason: (typeof BOOTSTRAP_FAILURES)[number] } & Finding)
  /** What enforces the policy is gone while the main process runs. */
  | { readonly kind: "enforcement-lost"; readonly message: string }
  | { readonly kind: "accepted"; readonly generation: number }
  | { readonly kind: "ready"; readonly generation: number }
  | {
      readonly kind: "exited";
      readonly exitCode: number | null;
      readonly signal: string | null;
      /** The kernel killed it for lack of memory. */
      readonly outOfMemory?: boolean | undefined;
    };

/** `not-current` asks for another look at the configuration; every other refusal ends the supervisor. */
export type ReportResult =
  | { readonly ok: true; readonly activate: boolean }
  | { readonly ok: false; readonly code: string; readonly message: string };

const taken = (activate = false): ReportResult => ({ ok: true, activate });
const refused = (code: string, message: string): ReportResult => ({ ok: false, code, message });

/**
 * @param wasStarted - Whether the ledger has it that the main process of this run was started. Read only where a
 * supervisor says that it replays nothing; absent: it has.
 */
export function applyReport(
  found: SandboxRecord,
  run: number,
  report: SupervisorReport,
  now: number,
  wasStarted = true,
): Decision<ReportResult> {
  const record = observeTime(found, now);
  const settled = settledRefusal(record, report);
  if (settled !== null) return { record, result: settled };
  switch (report.kind) {
    case "rejected":
      return rejected(enterAdmission(record, now), report, now);
    case "bootstrap":
      if (wasStarted && isLost(record, run, report)) return { record: lost(record, now), result: taken() };
      return {
        record: bootstrapped(enterAdmission(record, now), report, report.succeeded, now),
        result: taken(),
      };
    case "bootstrap-failed":
      return bootstrapFailed(record, report, now);
    case "enforcement-lost":
      return { record: enforcementLost(record, run, report.message, now), result: taken() };
    case "accepted":
      return accepted(enterAdmission(record, now), run, report.generation, now);
    case "ready":
      return ready(record, run, report.generation, now);
    case "exited":
      return exited(record, run, report, now);
  }
}

/** Nothing revives an attempt that expired or was ended; a workload that runs may go on talking. */
function settledRefusal(record: SandboxRecord, report: SupervisorReport): ReportResult | null {
  const { deadline, phase } = record;
  if (deadline?.status === "expired")
    return refused("expired", deadline.expiry?.message ?? "the attempt expired");
  if (report.kind === "exited") return null;
  if (isServed(record)) return null;
  return refused("settled", `the sandbox is ${phase}`);
}

/** The first report of an attempt is what ends its preparation: it comes from inside, with the attempt's secret. */
function enterAdmission(found: SandboxRecord, now: number): SandboxRecord {
  const record = withoutSilence(found, now);
  const { deadline } = record;
  if (deadline?.status !== "active" || deadline.phase !== PREPARATION) return record;
  const { attempt } = deadline;
  return applyToDeadline(withWaiting(record, false, now), { type: "enter", attempt, phase: ADMISSION }, now)
    .record;
}

function rejected(
  record: SandboxRecord,
  report: SupervisorReport & { kind: "rejected" },
  now: number,
): Decision<ReportResult> {
  const { generation, digest } = record.configuration;
  if (report.generation !== generation) return { record, result: notCurrent(record) };
  const { reason, message } = report;
  const attempt = record.deadline?.attempt ?? "";
  const event = { type: "reject", attempt, generation, digest, reason, message } as const;
  const { record: next } = applyToDeadline(record, event, now);
  const condition = { type: "ConfigurationReady", status: "False", reason, message } as const;
  const judged = withCondition(next, { ...condition, observedGeneration: generation }, now);
  // A workload that runs keeps the configuration it was admitted with.
  const active = judged.deadline?.status === "active";
  return { record: active ? { ...judged, admission: "rejected" } : judged, result: taken() };
}

function bootstrapped(
  record: SandboxRecord,
  { reason, message, cause }: Finding,
  succeeded: boolean,
  now: number,
): SandboxRecord {
  return withBootstrapped(record, succeeded ? "True" : "False", { reason, message, cause }, now);
}

/**
 * Whether a supervisor says that it replays nothing. That alone does not tell a run that was started from one whose
 * bootstrap was cancelled: the ledger does.
 */
export function saysNotReplayed(report: SupervisorReport): boolean {
  return report.kind === "bootstrap" && !report.succeeded && report.reason === NOT_REPLAYED;
}

/**
 * A supervisor found that the main process of its run was started before, by a supervisor that is gone: its pod was
 * evicted, its container was restarted by hand. Nothing is replayed, so that the run is over.
 */
function isLost(
  { activatedRun, exitCode, exitSignal }: SandboxRecord,
  run: number,
  report: SupervisorReport,
): boolean {
  const isOpen = activatedRun === run && exitCode === null && exitSignal === null;
  return isOpen && saysNotReplayed(report);
}

function lost(found: SandboxRecord, now: number): SandboxRecord {
  const message = "the main process is gone with what it ran in, which was replaced; it is not started again";
  const attempt = found.deadline?.attempt ?? "";
  const record = applyToDeadline(found, { type: "cancel", attempt, reason: message }, now).record;
  return withPhase({ ...record, lease: null, finishedAt: now }, "Error", { reason: "Killed", message }, now);
}

/** Terminal and explicit: what is left is cleaned up, and identity and workspace wait for an explicit start. */
function bootstrapFailed(
  found: SandboxRecord,
  report: SupervisorReport & { kind: "bootstrap-failed" },
  now: number,
): Decision<ReportResult> {
  if (!isComingUp(found.phase))
    return { record: found, result: refused("settled", `the sandbox is ${found.phase}`) };
  const record = bootstrapped(enterAdmission(found, now), report, false, now);
  const { reason, message } = report;
  const attempt = record.deadline?.attempt ?? "";
  const cancelled = applyToDeadline(record, { type: "cancel", attempt, reason: message }, now).record;
  const failed = withPhase({ ...cancelled, lease: null, finishedAt: now }, "Error", { reason, message }, now);
  return { record: failed, result: taken() };
}

function enforcementLost(record: SandboxRecord, run: number, message: string, now: number): SandboxRecord {
  if (record.activatedRun !== run) return record;
  const lost = { type: "LocalEnforced", status: "False", reason: "LocalEnforcementLost", message } as const;
  return withCondition(record, lost, now);
}

function accepted(
  record: SandboxRecord,
  run: number,
  generation: number,
  now: number,
): Decision<ReportResult> {
  if (generation !== record.configuration.generation) return { record, result: notCurrent(record) };
  if (record.activatedRun !== null && record.activatedRun !== run) {
    return { record, result: refused("already-activated", "another run has started the main process") };
  }
  const condition = {
    type: "ConfigurationReady",
    status: "True",
    reason: "ConfigurationAccepted",
    message: "",
  } as const;
  const judged = withCondition(record, { ...condition, observedGeneration: generation }, now);
  const next = {
    ...judged,
    admission: "accepted" as const,
    activatedRun: run,
    appliedGeneration: generation,
  };
  return { record: same(record, next) ? record : next, result: taken(true) };
}

function ready(record: SandboxRecord, run: number, generation: number, now: number): Decision<ReportResult> {
  if (record.activatedRun !== run)
    return { record, result: refused("not-activated", "this run was not admitted") };
  // What is being stopped is not ready for saying so; whether it is after all, its session tells.
  if (record.phase === "Ready" || isStoppedByOthers(record)) return { record, result: taken() };
  if (record.admission !== "accepted" || generation !== record.appliedGeneration) {
    return { record, result: notCurrent(record) };
  }
  const { deadline } = record;
  const attempt = deadline?.attempt ?? "";
  // A sandbox that was ready before and is looked for again has met its deadline.
  const met = deadline?.status === "completed";
  const { record: next, outcome } = applyToDeadline(record, { type: "complete", attempt }, now);
  if (!outcome.applied && !met)
    return { record: next, result: refused(outcome.why, "the attempt cannot become ready") };
  const session = { connected: true, instanceId: record.instance?.id ?? null };
  const { record: facts, refused: why } = applySession(phaseFacts(next), session, now);
  if (why !== null) return { record, result: refused(why, "the sandbox cannot become ready") };
  const message = `the main process runs with configuration generation ${generation}`;
  const entered = withFacts(next, facts, now);
  return {
    record: withPhase(entered, "Ready", { reason: "DependenciesReady", message }, now),
    result: taken(),
  };
}

function exited(
  record: SandboxRecord,
  run: number,
  report: SupervisorReport & { kind: "exited" },
  now: number,
): Decision<ReportResult> {
  if (record.activatedRun !== run || record.exitCode !== null || record.exitSignal !== null) {
    return { record, result: taken() };
  }
  const { exitCode, signal } = report;
  const code = exitCode ?? 128 + signalNumber(signal);
  const instanceId = record.instance?.id ?? null;
  // A gateway hears nothing while it stops what runs: who reports later was not reached by that, and ended by itself.
  const before = { ...phaseFacts(record), shutdownStopAt: null };
  const { record: facts, changed } = applyExitReport(before, { instanceId, exitCode: code }, now);
  // A result stays what it is: a late or repeated report adds the code and decides nothing.
  const decided = changed ? withFacts(record, facts, now) : record;
  const noted = { ...decided, exitCode, exitSignal: signal, finishedAt: decided.finishedAt ?? now };
  if (!changed || noted.phase === record.phase) return { record: noted, result: taken() };
  const lacked = report.outOfMemory === true && noted.phase === "Error";
  const reason = lacked ? "OutOfMemory" : noted.reason;
  const how = signal === null ? `exit code ${exitCode}` : signal;
  const message = `the main process ended with ${how}${lacked ? ", for lack of memory" : hintOf(exitCode)}`;
  return { record: withPhase(noted, noted.phase, { reason, message }, now), result: taken() };
}

/** What a shell means by it, and a supervisor that cannot start a program. */
function hintOf(exitCode: number | null): string {
  return exitCode === 127 ? ": a program that was to be run may not exist in the sandbox" : "";
}

function signalNumber(name: string | null): number {
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return numbers[name ?? ""] ?? 0;
}

function notCurrent(record: SandboxRecord): ReportResult {
  return refused("not-current", `the configuration is at generation ${record.configuration.generation}`);
}

function same(a: SandboxRecord, b: SandboxRecord): boolean {
  return (
    a.conditions === b.conditions &&
    a.admission === b.admission &&
    a.activatedRun === b.activatedRun &&
    a.appliedGeneration === b.appliedGeneration
  );
}
