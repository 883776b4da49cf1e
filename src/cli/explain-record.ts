import { show } from "../errors.js";
import { parsePhase, phases, type DesiredState, type SandboxRecord } from "../phase/index.js";
import { UsageError } from "./command.js";
import { parseJson } from "./json-input.js";

/**
 * What is assumed of a sandbox without a record: that it is to run.
 *
 * @internal
 */
export const assumedRecord: SandboxRecord = { phase: "Unknown", desired: "running", since: 0 };

const EXPECTED = 'a record: an object with "phase" and "desired"';

/** The instants of a record, which people also write as RFC 3339. */
const INSTANTS = ["since", "updatedAt", "startRequestedAt", "previousFinishedAt", "finishedAt"] as const;

/**
 * Reads a gateway's record: the bare one, or a stored one with its version around it.
 *
 * @internal
 */
export function readRecord(text: string, source: string): SandboxRecord {
  const parsed = parseJson(text, source, EXPECTED);
  const outer = asObject(parsed);
  const record = asObject(outer?.["record"]) ?? outer;
  if (record === null) throw new UsageError(`expected ${EXPECTED}, found ${show(parsed)}`);
  const phase = parsePhase(record["phase"]);
  if (record["phase"] === undefined || !phase.known)
    throw new UsageError(
      `expected a phase in the record, found ${show(record["phase"])}: a phase is ${phases.join(", ")}`,
    );
  const instants = Object.fromEntries(INSTANTS.map((field) => [field, instant(record[field], field)]));
  return { ...record, since: 0, ...instants, phase: phase.phase, desired: desired(record["desired"]) };
}

function desired(value: unknown): DesiredState {
  if (value === undefined) return "running";
  if (value === "running" || value === "stopped" || value === "deleted") return value;
  throw new UsageError(`expected "desired" to be running, stopped or deleted, found ${show(value)}`);
}

function instant(value: unknown, field: string): number | null {
  if (value === undefined || value === null) return field === "since" ? 0 : null;
  const at = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
  if (Number.isSafeInteger(at)) return at;
  throw new UsageError(`expected "${field}" to be epoch milliseconds or RFC 3339, found ${show(value)}`);
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}
