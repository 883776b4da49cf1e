/**
 * Where a sandbox is in its life.
 *
 * `Starting` is a later start, `Provisioning` the first one; `Stopped` keeps identity and workspace; `Completed` and
 * `Error` are results that only an accepted operation leaves.
 *
 * @public
 */
export type Phase =
  | "Provisioning"
  | "Starting"
  | "Ready"
  | "Stopping"
  | "Stopped"
  | "Completed"
  | "Error"
  | "Deleting"
  | "Deleted"
  | "Unknown";

/**
 * Every phase, in the order of a sandbox's life.
 *
 * @public
 */
export const phases: readonly Phase[] = Object.freeze([
  "Provisioning",
  "Starting",
  "Ready",
  "Stopping",
  "Stopped",
  "Completed",
  "Error",
  "Deleting",
  "Deleted",
  "Unknown",
] satisfies Phase[]);

/**
 * The numbers of phases on the wire. They follow OpenShell's protocol, where 0 is `Unspecified`; `Deleted` has no
 * number because a deleted sandbox has no record to carry one.
 *
 * @public
 */
export const phaseNumbers: Readonly<Record<Exclude<Phase, "Deleted">, number>> = Object.freeze({
  Provisioning: 1,
  Ready: 2,
  Error: 3,
  Deleting: 4,
  Unknown: 5,
  Stopping: 6,
  Stopped: 7,
  Starting: 8,
  Completed: 9,
});

/**
 * A phase as it was read: what it means here, and the word or number as it came.
 *
 * @public
 */
export interface ParsedPhase {
  /** `Unknown` when the value names no phase of this version. */
  readonly phase: Phase;
  /** The value as it came, so that what a newer peer wrote survives a round trip. */
  readonly raw: unknown;
  /** Whether the value names a phase of this version. `Unspecified` (0) does not. */
  readonly known: boolean;
}

const byWord: ReadonlyMap<string, Phase> = new Map(phases.map((phase) => [phase.toLowerCase(), phase]));
const numberOf: ReadonlyMap<string, number> = new Map(Object.entries(phaseNumbers));
const byNumber: ReadonlyMap<number, Phase> = new Map(
  [...numberOf].map(([phase, number]) => [number, phase as Phase]),
);

/** How a protobuf enum spells its names in JSON. */
const ENUM_PREFIX = "sandbox_phase_";

/**
 * Reads a phase from any value: a word in any case (with or without the prefix of a protobuf enum) or a wire number,
 * also as text. Never throws: what it does not know is `Unknown`, with the raw value kept.
 *
 * @example
 * ```ts
 * import { parsePhase } from "slipway/phase";
 *
 * parsePhase("READY").phase; // => "Ready"
 * parsePhase(7).phase; // => "Stopped"
 * parsePhase("Hibernating"); // => { phase: "Unknown", raw: "Hibernating", known: false }
 * ```
 *
 * @public
 */
export function parsePhase(value: unknown): ParsedPhase {
  const phase = typeof value === "number" ? byNumber.get(value) : fromText(value);
  return phase === undefined
    ? { phase: "Unknown", raw: value, known: false }
    : { phase, raw: value, known: true };
}

/**
 * The wire number of a phase; `Deleted` and unknown words give 0 (`Unspecified`).
 *
 * @public
 */
export function phaseNumber(phase: Phase): number {
  return numberOf.get(phase) ?? 0;
}

function fromText(value: unknown): Phase | undefined {
  if (typeof value !== "string") return undefined;
  const word = value.trim().toLowerCase();
  const bare = word.startsWith(ENUM_PREFIX) ? word.slice(ENUM_PREFIX.length) : word;
  return byWord.get(bare) ?? (/^[0-9]{1,9}$/.test(bare) ? byNumber.get(Number(bare)) : undefined);
}
