import type { SandboxHistory, Violation } from "../checker/history.js";
import type { Load } from "./load.js";

export interface FaultReport {
  readonly seed: number;
  readonly tookMs: number;
  readonly operations: Load["counts"];
  readonly faults: Readonly<Record<string, number>>;
  readonly deliveries: { readonly all: number; readonly replayed: number; readonly heldBack: number };
  readonly sandboxes: number;
  readonly versions: number;
  /** Main processes that were started. */
  readonly starts: number;
  readonly expired: number;
  /** How long after its deadline an expiry was written, milliseconds. */
  readonly lateness: { readonly p50: number; readonly p99: number; readonly max: number };
  /** What gateways wrote last that ended though nobody had killed them: one that finds no database when it begins does. */
  readonly crashes: readonly string[];
  readonly violations: readonly Violation[];
}

/** Counts what was in the histories of a run. */
export class Tally {
  sandboxes = 0;
  versions = 0;
  starts = 0;
  deliveries = 0;
  readonly #lateness: number[] = [];

  add({ versions, starts, deliveries }: SandboxHistory): void {
    this.sandboxes += 1;
    this.versions += versions.length;
    this.starts += starts.length;
    this.deliveries += deliveries.length;
    const expired = new Set<string>();
    for (const { at, record } of versions) {
      const state = record?.deadline ?? null;
      if (state === null || state.expiry === null || expired.has(state.attempt)) continue;
      expired.add(state.attempt);
      this.#lateness.push(at - state.expiry.at);
    }
  }

  get expired(): number {
    return this.#lateness.length;
  }

  get lateness(): FaultReport["lateness"] {
    const sorted = [...this.#lateness].sort((one, other) => one - other);
    const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
    return { p50: at(0.5), p99: at(0.99), max: at(1) };
  }
}

/** A few of each rule, and how many there are. */
export function violationLines(violations: readonly Violation[], each = 5): string[] {
  return [...new Set(violations.map(({ rule }) => rule))].flatMap((rule) => {
    const of = violations.filter((violation) => violation.rule === rule);
    const shown = of
      .slice(0, each)
      .map(({ sandbox, version, detail }) => `  ${sandbox} version ${version}: ${detail}`);
    return [`${rule}: ${of.length}`, ...shown];
  });
}
