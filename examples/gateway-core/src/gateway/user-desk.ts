import type { Clock, DeadlinePlan } from "slipway";
import { newRecord } from "../decide/attempt.js";
import {
  requestDelete,
  requestStart,
  requestStop,
  updateConfiguration,
  type ConfigurationWrite,
  type OperationResult,
  type UpdateResult,
} from "../decide/operations.js";
import type { Driver } from "../driver/driver.js";
import { InvalidInputError } from "../input-error.js";
import { digestOf } from "../record/digest.js";
import { canonicalJson, type JsonObject } from "../record/json.js";
import type { SandboxSpec } from "../record/record.js";
import type { Activations } from "./activations.js";
import type { BackendLooks } from "./backend-looks.js";
import { checkOverrides, planFor, type Budgets } from "./budgets.js";
import type { LocalKnowledge } from "./local-knowledge.js";
import type { SandboxRecords, VersionedRecord } from "./sandbox-records.js";
import { attemptToken } from "./secrets.js";

export interface CreateRequest {
  readonly name: string;
  readonly spec: SandboxSpec;
  readonly policy: JsonObject;
}

/** What became of a request, with the record as it is then. */
export type Changed<Result> = VersionedRecord & { readonly result: Result };

export interface UserDeskOptions {
  readonly records: SandboxRecords;
  readonly activations: Activations;
  readonly looks: BackendLooks;
  readonly knowledge: LocalKnowledge;
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly newId: () => string;
  /** The isolation backend that new sandboxes are pinned to, `null` for none. */
  readonly isolationBackend: string | null;
  /** Aborts when the gateway shuts down. */
  readonly closing: AbortSignal;
}

/** Where users come with what they want of a sandbox. It is decided on the record; whoever does the work hears of it. */
export class UserDesk {
  readonly #options: UserDeskOptions;

  constructor(options: UserDeskOptions) {
    this.#options = options;
  }

  /** Creating what is there already, with the same content under the same name, is fulfilled and not a conflict. */
  async create(request: CreateRequest): Promise<Changed<"created" | "exists" | "name-taken">> {
    const { records, drivers, clock, newId, isolationBackend } = this.#options;
    const { name, spec, policy } = request;
    const driver = drivers.get(spec.driver);
    if (driver === undefined) {
      throw new InvalidInputError("driver", `one of ${[...drivers.keys()].join(", ")}`, spec.driver);
    }
    checkOverrides(this.#options.budgets, spec.budgets);
    await driver.check(spec.image, spec.driverOptions);
    const now = clock.now();
    const id = `sb-${now.toString(36)}-${newId().slice(0, 8)}`;
    const attempt = { plan: this.#plan(spec), token: attemptToken(newId) };
    const record = newRecord({ id, name, spec, policy, isolationBackend }, attempt, now);
    if ((await records.insert(record)) === "inserted") return { record, version: 1, result: "created" };
    const found = await records.findByName(name);
    // Whoever had the name was deleted in between: the name is free, and the next request gets it.
    if (found === null) return { record, version: 0, result: "name-taken" };
    const same =
      contentOf(found.record.spec) === contentOf(spec) &&
      found.record.configuration.digest === digestOf(policy);
    return { ...found, result: same && found.record.phase !== "Deleting" ? "exists" : "name-taken" };
  }

  /** The backend is looked at first: what it shows counts, and not what it showed a while ago. */
  async start(id: string): Promise<Changed<OperationResult>> {
    const { records, looks, knowledge, newId, closing } = this.#options;
    const token = attemptToken(newId);
    const found = await records.read(id);
    if (found !== null) await looks.look(found.record, closing);
    return records.change(id, (record, now) =>
      requestStart(record, { plan: this.#plan(record.spec), token }, knowledge.around(record), now),
    );
  }

  async stop(id: string): Promise<Changed<OperationResult>> {
    const { records, knowledge } = this.#options;
    return this.#ended(
      await records.change(id, (record, now) => requestStop(record, knowledge.around(record), now)),
    );
  }

  async delete(id: string): Promise<Changed<OperationResult>> {
    const { records, knowledge } = this.#options;
    return this.#ended(
      await records.change(id, (record, now) => requestDelete(record, knowledge.around(record), now)),
    );
  }

  async update(id: string, write: ConfigurationWrite): Promise<Changed<UpdateResult>> {
    return this.#options.records.change(id, (record, now) => updateConfiguration(record, write, now));
  }

  /** The record refuses a start from here on; the ledger tells one that is under way. */
  async #ended(changed: Changed<OperationResult>): Promise<Changed<OperationResult>> {
    if (changed.result.ok && changed.result.changed) await this.#options.activations.stop(changed.record);
    return changed;
  }

  #plan({ budgets }: SandboxSpec): DeadlinePlan {
    return planFor(this.#options.budgets, budgets);
  }
}

/** Fields that are absent and fields that are undefined are the same content; so is any order of them. */
function contentOf(spec: SandboxSpec): string {
  return canonicalJson(JSON.parse(JSON.stringify(spec)) as JsonObject);
}
