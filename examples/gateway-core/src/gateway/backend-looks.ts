import {
  expectedRun,
  type Clock,
  type Observation,
  type ObservationSource,
  type ObservedSandbox,
  type Page,
  type WatchEvent,
} from "slipway";
import { phaseFacts } from "../decide/phase-facts.js";
import {
  isGoing,
  isLostRun,
  isOfBefore,
  isStartOutstanding,
  isStray,
  withOwnKnowledge,
  type Seen,
} from "../decide/seen.js";
import type { Driver } from "../driver/driver.js";
import type { SandboxRecord } from "../record/record.js";
import { limited } from "./limited-call.js";
import { messageOf, type Log } from "./log.js";
import type { SandboxRecords } from "./sandbox-records.js";
import type { Sessions } from "./sessions.js";

const LOOK_LIMIT_MS = 10_000;
const LIST_LIMIT_MS = 60_000;

export interface BackendLooksOptions {
  readonly records: SandboxRecords;
  readonly sessions: Sessions;
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly clock: Clock;
  readonly log: Log;
  /** Something was seen that is for the worker to deal with before a phase is made of it. */
  readonly wake: (id: string) => void;
  /**
   * Whether the worker is changing something right now, or has still to find out what became of a sandbox since the
   * gateway was last here. It looks by itself then.
   */
  readonly isBusy: (id: string) => boolean;
}

/** Looks at backends through their drivers, and remembers the latest look at each sandbox. */
export class BackendLooks {
  readonly #options: BackendLooksOptions;
  readonly #seen = new Map<string, Seen & { readonly turn: number }>();
  /** Looks that were begun. One that is overtaken by a later one tells nothing any more. */
  #turns = 0;
  /** Whether each driver's backend answered when it was last listed. */
  readonly #answered = new Map<string, boolean>();

  constructor(options: BackendLooksOptions) {
    this.#options = options;
  }

  /** The latest look, `null` when the record's run has not been looked for since it was started. */
  seen(record: SandboxRecord): Seen | null {
    const seen = this.#seen.get(record.id);
    if (seen === undefined || seen.instanceId !== (record.instance?.id ?? null)) return null;
    return isOfBefore(record, seen) ? null : seen;
  }

  /** Whether a driver's backend answered when it was last listed; `null` before the first time. */
  answered(driver: string): boolean | null {
    return this.#answered.get(driver) ?? null;
  }

  forget(id: string): void {
    this.#seen.delete(id);
  }

  /**
   * Looks now. `null` when nothing was learnt.
   *
   * @param record - As it was read before.
   */
  async look(record: SandboxRecord, signal: AbortSignal): Promise<Observation | null> {
    const { clock, drivers, log } = this.#options;
    const driver = drivers.get(record.spec.driver);
    if (driver === undefined) return null;
    const { id, name, instance } = record;
    const run = expectedRun(phaseFacts(record));
    const at = clock.now();
    const turn = (this.#turns += 1);
    try {
      const limits = { clock, until: at + LOOK_LIMIT_MS, signal };
      const found = await limited(limits, (until) =>
        driver.observe({ id, name }, run, instance?.handle ?? null, { signal: until }),
      );
      if (found === null || found.exists === null) return null;
      const observation = withOwnKnowledge(record, { ...found, observedAt: found.observedAt ?? at });
      const seen = {
        observation,
        instanceId: instance?.id ?? null,
        launchedAt: instance?.launchedAt ?? null,
      };
      if ((this.#seen.get(id)?.turn ?? 0) < turn) this.#seen.set(id, { ...seen, turn });
      return observation;
    } catch (error) {
      if (!signal.aborted) log("look-failed", { sandbox: id, error: messageOf(error) });
      return null;
    }
  }

  /** One driver's backend as the reconciler sees it. */
  source(driver: Driver): ObservationSource {
    const { clock } = this.#options;
    return {
      list: async (cursor, signal): Promise<Page<ObservedSandbox>> => {
        const at = clock.now();
        const limits = { clock, until: at + LIST_LIMIT_MS, signal };
        const page = await limited(limits, (until) => driver.list(cursor, { signal: until })).catch(
          (error: unknown) => {
            if (!signal.aborted) this.#answered.set(driver.name, false);
            throw error;
          },
        );
        this.#answered.set(driver.name, true);
        // A sweep decides on sessions as well, and those of other gateways are in the store.
        if (page.cursor === null) await this.#options.sessions.refresh();
        return { ...page, items: page.items.map((item) => dated(item, at)) };
      },
      get: (id, _run, signal) => this.#get(driver, id, signal),
      watch: (signal) => hints(driver, signal),
    };
  }

  /**
   * Evidence for a phase. None while the gateway is changing something or about to, because what is there is of the
   * time before; none of what goes before it was admitted; and none of a run that was lost, until the worker has ended
   * what it left running.
   */
  async #get(driver: Driver, id: string, signal: AbortSignal): Promise<ObservedSandbox | null> {
    const { records, sessions, wake, isBusy } = this.#options;
    const found = await records.read(id);
    const record = found?.record;
    if (record === undefined || record.spec.driver !== driver.name || record.desired === "deleted")
      return null;
    const [observation] = await Promise.all([this.look(record, signal), sessions.refresh(id)]);
    const seen = this.seen(record);
    if (observation === null || seen === null || isBusy(id)) return null;
    if (isStartOutstanding(record) || isGoing(record, seen)) return null;
    const lost = isLostRun(record, seen);
    if (lost || isStray(record, seen)) wake(id);
    return lost ? null : { id, observation };
  }
}

function dated({ id, observation }: ObservedSandbox, at: number): ObservedSandbox {
  return { id, observation: { ...observation, observedAt: observation.observedAt ?? at } };
}

/** That an object is gone is a reason to look. The record is kept: only a user deletes a sandbox. */
async function* hints(driver: Driver, signal: AbortSignal): AsyncIterable<WatchEvent> {
  for await (const { id } of driver.watch({ signal })) yield { type: "changed", id };
}
