import type { Clock } from "slipway";
import type { Surroundings } from "../decide/gates.js";
import { backendMatches } from "../decide/isolation.js";
import { nextWork, type LocalWork } from "../decide/next-work.js";
import { isOwed } from "../decide/recovery-plan.js";
import { standingOf, type Standing } from "../decide/standing.js";
import type { Driver } from "../driver/driver.js";
import type { SandboxRecord } from "../record/record.js";
import type { BackendLooks } from "./backend-looks.js";
import { managesLifecycle, policyOf, type PolicyOptions } from "./policy.js";
import type { Sessions } from "./sessions.js";

export interface LocalKnowledgeOptions {
  readonly owner: string;
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly policy: PolicyOptions;
  /** The isolation backend that is selected, `null` for none. */
  readonly isolationBackend: string | null;
  readonly looks: BackendLooks;
  readonly sessions: Sessions;
  readonly clock: Clock;
}

/** What this gateway knows of a sandbox beside its record, and which work it finds for itself by that. */
export class LocalKnowledge {
  /** Sandboxes of which it is to be found out what became of them since a gateway was last here. */
  readonly owed = new Set<string>();
  readonly #options: LocalKnowledgeOptions;

  constructor(options: LocalKnowledgeOptions) {
    this.#options = options;
  }

  /** What a decision on the record has to know of where the sandbox stands. */
  around(record: SandboxRecord): Surroundings {
    const { drivers, policy, isolationBackend, looks } = this.#options;
    const driver = drivers.get(record.spec.driver);
    return {
      observation: looks.seen(record)?.observation ?? null,
      backendMatches: backendMatches(record, isolationBackend),
      policy: driver === undefined ? {} : policyOf(driver, policy),
    };
  }

  /** What may be done with a sandbox, and which rule says where it stands, by the latest look at its backend. */
  standing(record: SandboxRecord): Standing {
    const { sessions, clock } = this.#options;
    return standingOf(record, this.around(record), sessions.of(record.id, clock.now()), clock.now());
  }

  /** What deciding on the next work has to know. */
  ofWork(record: SandboxRecord): LocalWork {
    const { owner, looks } = this.#options;
    return { owner, seen: looks.seen(record), around: this.around(record) };
  }

  /** Whether a worker would find something to do: most writes leave nothing, and cost nobody a look at the store. */
  hasWork(record: SandboxRecord): boolean {
    if (this.owed.has(record.id)) return true;
    return nextWork(record, this.ofWork(record), this.#options.clock.now()).do !== "nothing";
  }

  /** A record was found at the start: it may have to be found out what became of it while no gateway was here. */
  found(record: SandboxRecord): void {
    const { drivers, policy, clock } = this.#options;
    const driver = drivers.get(record.spec.driver);
    if (driver === undefined) return;
    const context = {
      managesLifecycle: managesLifecycle(driver, policy),
      observation: null,
      policy: policyOf(driver, policy),
    };
    if (isOwed(record, context, clock.now())) this.owed.add(record.id);
  }
}
