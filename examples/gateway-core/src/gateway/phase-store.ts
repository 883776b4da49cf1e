import type { Clock, Page, RecordStore, SandboxRecord as PhaseRecord, StoredRecord } from "slipway";
import { withPhase } from "../decide/decision.js";
import { phaseFacts, withFacts, type PhaseFacts } from "../decide/phase-facts.js";
import { withSilence, type RunNews } from "../decide/silence.js";
import type { SandboxRecord } from "../record/record.js";
import type { Log } from "./log.js";
import type { SandboxRecords } from "./sandbox-records.js";
import { SilencePace } from "./silence-pace.js";

const PAGE = 200;

/** Who is believed to be there, and what to do about one that a whole listing did not have. */
export interface RollCall {
  readonly known: () => Iterable<string>;
  readonly missed: (id: string) => void;
}

export interface PhaseStoreOptions {
  readonly records: SandboxRecords;
  readonly clock: Clock;
  /** Only this driver's sandboxes. */
  readonly driver: string;
  readonly wake: (id: string) => void;
  readonly log: Log;
  /** What is known of a record's run beside the phase that was decided. */
  readonly news: (record: SandboxRecord) => RunNews;
  readonly rollCall: RollCall;
}

/**
 * The records of one driver as the reconciler sees them. Every answer carries the record that it was made from, so
 * that a write puts the decided facts into exactly what they were decided on.
 */
export class PhaseStore implements RecordStore {
  readonly #options: PhaseStoreOptions;
  readonly #pace = new SilencePace();
  /** Those that were known when a listing began, and have not come in it so far. */
  #missing = new Set<string>();

  constructor(options: PhaseStoreOptions) {
    this.#options = options;
  }

  async get(id: string): Promise<StoredRecord | null> {
    const { records, driver } = this.#options;
    const found = await records.read(id);
    if (found === null || found.record.spec.driver !== driver) return null;
    return { id, version: found.version, record: phaseFacts(found.record) };
  }

  /**
   * A record that cannot be read is left out, and does not hide the others. Whoever was known before the listing and is
   * not in it was removed by another gateway, whose news were lost.
   */
  async list(cursor: string | null): Promise<Page<StoredRecord>> {
    const { records, driver, rollCall } = this.#options;
    if (cursor === null) this.#missing = new Set(rollCall.known());
    const page = await records.list({ after: cursor ?? undefined, limit: PAGE });
    for (const item of page.items) this.#missing.delete("record" in item ? item.record.id : item.id);
    if (page.next === null) {
      for (const id of this.#missing) rollCall.missed(id);
      this.#missing.clear();
    }
    const items = page.items.flatMap((item): StoredRecord[] => {
      if (!("record" in item) || item.record.spec.driver !== driver) return [];
      const { record, version } = item;
      return [{ id: record.id, version, record: phaseFacts(record) }];
    });
    return { items, cursor: page.next };
  }

  async compareAndSwap(
    id: string,
    version: string | number,
    next: PhaseRecord,
  ): Promise<StoredRecord | null> {
    const { origin } = next as PhaseFacts;
    const now = this.#options.clock.now();
    const decided = withFacts(origin, next, now);
    const paced = this.#pace.allows(decided, now);
    const record = paced ? withSilence(decided, this.#options.news(decided), now) : decided;
    if (record === origin) return { id, version, record: next };
    const written = await this.#options.records.swap(Number(version), origin, record);
    if (written !== null && record !== decided) this.#pace.note(record, now);
    if (written !== null && origin.phase !== written.record.phase) {
      const { phase, reason } = written.record;
      this.#options.log("reconciled", { sandbox: id, from: origin.phase, phase, reason });
    }
    return written && { id, version: written.version, record: phaseFacts(written.record) };
  }

  /**
   * Nothing is removed from here. A sandbox that a user deleted goes when its driver has removed everything, its
   * workspace included; and one whose object somebody else removed keeps its identity, for its user to start or delete.
   */
  async delete(id: string, version: string | number): Promise<boolean> {
    const { records, clock, wake } = this.#options;
    const found = await records.read(id);
    if (found === null || found.version !== version) return false;
    const { record } = found;
    if (record.desired === "deleted") wake(id);
    else {
      const now = clock.now();
      const message = "somebody else removed the compute object; identity and record are kept";
      const missing = { reason: "ComputeResourceMissing", message };
      const facts = { ...phaseFacts(record), phase: "Error", since: now, updatedAt: now } as const;
      await records.swap(
        found.version,
        record,
        withPhase(withFacts(record, facts, now), "Error", missing, now),
      );
    }
    return false;
  }
}
