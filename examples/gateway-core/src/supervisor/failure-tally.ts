import { FAILURE_CLASSES, type FailureCounts } from "../gateway/observer.js";

/** Counts failed attempts until somebody was told of them. */
export class FailureTally {
  #counts: Record<string, number> = {};

  add(verdict: string): void {
    if (FAILURE_CLASSES.some((known) => known === verdict)) this.#add(verdict, 1);
  }

  /** What nobody was told yet; it counts as told. */
  take(): FailureCounts {
    const counts = this.#counts;
    this.#counts = {};
    return counts;
  }

  /** What was taken did not arrive. Should it have arrived after all, it is counted twice. */
  putBack(counts: FailureCounts): void {
    for (const [verdict, count] of Object.entries(counts)) this.#add(verdict, count);
  }

  #add(verdict: string, count: number): void {
    this.#counts[verdict] = (this.#counts[verdict] ?? 0) + count;
  }
}
