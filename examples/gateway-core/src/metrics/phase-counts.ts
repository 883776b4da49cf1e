import { phases } from "slipway";
import type { Phase } from "../record/phase.js";

/** How many sandboxes are in each phase, kept by what is heard of each: nobody reads a whole store to be counted. */
export class PhaseCounts {
  readonly #phaseOf = new Map<string, Phase>();
  readonly #counts = new Map<Phase, number>(phases.map((phase) => [phase, 0]));

  counts(): ReadonlyMap<Phase, number> {
    return this.#counts;
  }

  /** `null`: there is no such record any more. */
  heard(id: string, phase: Phase | null): void {
    const before = this.#phaseOf.get(id);
    if (before === (phase ?? undefined)) return;
    if (before !== undefined) this.#add(before, -1);
    if (phase === null) this.#phaseOf.delete(id);
    else {
      this.#phaseOf.set(id, phase);
      this.#add(phase, 1);
    }
  }

  #add(phase: Phase, by: number): void {
    this.#counts.set(phase, (this.#counts.get(phase) ?? 0) + by);
  }
}
