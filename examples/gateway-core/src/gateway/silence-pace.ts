import type { SandboxRecord } from "../record/record.js";

/** So long what was said of a run stands, whatever its backend says meanwhile. */
const REWORD_AFTER_MS = 60_000;

/**
 * How often the words about a silent run may be written anew: some backends word the same thing differently at each
 * look, and none of that is worth a write at each. Of this process alone: another gateway, or a restart, is one more.
 */
export class SilencePace {
  /** When each run was last written of, the one of longest ago first. */
  readonly #writtenAt = new Map<string, number>();

  /** How many runs are remembered. */
  get size(): number {
    return this.#writtenAt.size;
  }

  /** Whether a run may be written of now. */
  allows({ instance }: SandboxRecord, now: number): boolean {
    const writtenAt = instance === null ? undefined : this.#writtenAt.get(instance.id);
    return writtenAt === undefined || now - writtenAt >= REWORD_AFTER_MS;
  }

  /** It was written of. */
  note({ instance }: SandboxRecord, now: number): void {
    if (instance === null) return;
    for (const [id, writtenAt] of this.#writtenAt) {
      if (now - writtenAt < REWORD_AFTER_MS) break;
      this.#writtenAt.delete(id);
    }
    this.#writtenAt.delete(instance.id);
    this.#writtenAt.set(instance.id, now);
  }
}
