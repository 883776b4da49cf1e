import { join } from "node:path";
import { readDeadline } from "slipway";
import { seededRandom } from "slipway/testing";
import type { SupervisorReport } from "../../examples/gateway-core/src/decide/supervisor-report.js";
import type { Gateway } from "../../examples/gateway-core/src/gateway/gateway.js";
import type { SandboxRecord } from "../../examples/gateway-core/src/record/record.js";
import { decodeRecord } from "../../examples/gateway-core/src/record/record-schema.js";
import { sleep } from "../../examples/gateway-core/src/sleep.js";
import type { RecordStore } from "../../examples/gateway-core/src/store/record-store.js";
import { SqliteStore } from "../../examples/gateway-core/src/store/sqlite-store.js";
import { Bench } from "../../examples/gateway-core/test/bench.js";
import { tempDir } from "../../examples/gateway-core/test/temp-dir.js";
import { CLOCK_MARGIN_MS, type Delivery, type SandboxHistory, type Version } from "./checker/history.js";

const STEPS = 120;
/** Longest time that a store takes for an answer. */
const PAUSE_MS = 60;
const PASS_MS = 1500;
const NEAR_MS = 2000;
const AFTER_MS = 150;
/** Until every deadline and cleanup is over. */
const REST_MS = 60_000;
const ACTIONS = [
  ...(["start", "start", "stop", "update", "update"] as const),
  ...(["launched", "launched", "accepted", "ready", "rejected", "again", "survivor", "quiet"] as const),
];

interface Sent {
  readonly attempt: string;
  readonly run: number;
  readonly report: SupervisorReport;
}

/**
 * Two gateways on one slow store, a user and a supervisor whose reports come late and again, in virtual time and by
 * chance of a seed: the same seed gives the same history, on every machine.
 */
export async function simulate(seed: number): Promise<SandboxHistory> {
  const bench = await Bench.open();
  const store = new SqliteStore(join(await tempDir(), "shared.db"));
  try {
    return await new Simulation(bench, store, seededRandom(seed)).run();
  } finally {
    await bench.close();
    await store.close();
  }
}

class Simulation {
  readonly #bench: Bench;
  readonly #store: RecordStore;
  readonly #random: () => number;
  readonly #versions: Version[] = [];
  readonly #deliveries: Delivery[] = [];
  readonly #past: Sent[] = [];
  readonly #gateways: Gateway[] = [];
  readonly #under: Promise<unknown>[] = [];
  #slow = false;

  constructor(bench: Bench, store: RecordStore, random: () => number) {
    this.#bench = bench;
    this.#store = store;
    this.#random = random;
  }

  async run(): Promise<SandboxHistory> {
    for (const owner of ["one", "two"])
      this.#gateways.push(await this.#bench.gateway(owner, { store: this.#recorded() }));
    const id = await this.#bench.create(this.#gateway());
    this.#slow = true;
    for (let step = 0; step < STEPS; step += 1) {
      await this.#act(id);
      await this.#bench.pass(Math.ceil(this.#random() * PASS_MS));
      await this.#aroundDeadline(id);
    }
    this.#slow = false;
    await this.#bench.pass(REST_MS);
    await Promise.allSettled(this.#under);
    const stored = await this.#store.get(id);
    return {
      ...{ id, versions: this.#versions, answers: [], deliveries: this.#deliveries, starts: [] },
      end: { version: stored?.version ?? null, left: [], restless: null },
    };
  }

  /** When a deadline is near: lets it pass, and then asks for changes while its expiry may not be written yet. */
  async #aroundDeadline(id: string): Promise<void> {
    const dueIn = await this.#dueIn(id);
    if (dueIn === null || dueIn > NEAR_MS) return;
    await this.#bench.pass(Math.max(1, dueIn) + CLOCK_MARGIN_MS);
    for (let change = 0; change < 4; change += 1) {
      this.#update(id);
      await this.#bench.pass(AFTER_MS);
    }
  }

  /** Time until the deadline of the attempt under way, `null` when there is none. */
  async #dueIn(id: string): Promise<number | null> {
    const now = this.#bench.clock.now();
    const deadline = (await this.#record(id))?.deadline ?? null;
    const { deadlineAt } = deadline?.status === "active" ? readDeadline(deadline, now) : { deadlineAt: null };
    return deadlineAt === null ? null : deadlineAt - now;
  }

  async #record(id: string): Promise<SandboxRecord | null> {
    const stored = await this.#store.get(id);
    return stored && decodeRecord(id, stored.value);
  }

  #update(id: string): void {
    const policy = { version: 1, env: { CHANGE: String(this.#random()) } };
    this.#meanwhile(this.#gateway().update(id, { policy }));
  }

  async #act(id: string): Promise<void> {
    switch (this.#choose(ACTIONS)) {
      case "start":
        this.#meanwhile(this.#gateway().startSandbox(id));
        break;
      case "stop":
        this.#meanwhile(this.#gateway().stopSandbox(id));
        break;
      case "update":
        this.#update(id);
        break;
      case "launched":
        this.#bench.driver.launches.at(-1)?.succeed();
        break;
      case "accepted":
        return this.#report(id, (generation) => ({ kind: "accepted", generation }));
      case "ready":
        return this.#report(id, (generation) => ({ kind: "ready", generation }));
      case "rejected":
        return this.#report(id, (generation) => ({
          ...{ kind: "rejected", generation, reason: "Invalid", message: "no" },
        }));
      case "again":
        if (this.#past.length > 0) this.#meanwhile(this.#deliver(id, this.#choose(this.#past)));
        break;
      case "survivor":
        return this.#survive(id);
      case "quiet":
        // Nothing happens until shortly before the deadline.
        return this.#bench.pass(Math.max(1, ((await this.#dueIn(id)) ?? 0) - NEAR_MS));
    }
  }

  /**
   * The supervisor of a run that is over speaks, and knows nothing of that. What it says would be taken of the current
   * one in almost any state, so that nothing but its credentials is against it.
   */
  async #survive(id: string): Promise<void> {
    const record = await this.#record(id);
    const over = this.#past.filter(
      ({ attempt, run }) => attempt !== record?.deadline?.attempt || run !== record.run,
    );
    if (over.length === 0) return;
    const says = this.#choose(["ready", "accepted", "bootstrap"] as const);
    const told = { reason: "BootstrapInProgress", message: "of a run that is over" };
    return this.#report(
      id,
      (generation) =>
        says === "bootstrap" ? { kind: says, succeeded: false, ...told } : { kind: says, generation },
      this.#choose(over),
    );
  }

  /** As the supervisor of the current run, or of the one that is given. */
  async #report(
    id: string,
    of: (generation: number) => SupervisorReport,
    as?: Pick<Sent, "attempt" | "run">,
  ): Promise<void> {
    const record = await this.#record(id);
    if (record === null) return;
    const { attempt, run } = as ?? { attempt: record.deadline?.attempt ?? "", run: record.run };
    const sent = { attempt, run, report: of(record.configuration.generation) };
    this.#past.push(sent);
    this.#meanwhile(this.#deliver(id, sent));
  }

  async #deliver(id: string, { attempt, run, report }: Sent): Promise<void> {
    const { clock } = this.#bench;
    const sentAt = clock.now();
    const { ok } = await this.#gateway().report(id, attempt, run, report);
    const answered = { answeredAt: clock.now(), status: ok ? 200 : 409, activate: false };
    this.#deliveries.push({ attempt, run, what: report.kind, sentAt, ...answered });
  }

  #meanwhile(work: Promise<unknown>): void {
    this.#under.push(work.catch(() => undefined));
  }

  #gateway(): Gateway {
    return this.#choose(this.#gateways);
  }

  #choose<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.#random() * items.length)];
    if (item === undefined) throw new Error("there is nothing to choose from");
    return item;
  }

  /** The store as a gateway has it: slow, so that others come in between, and every write is noted down. */
  #recorded(): RecordStore {
    const store = this.#store;
    const pause = async (): Promise<void> => {
      if (this.#slow) await sleep(this.#bench.clock, Math.floor(this.#random() * PAUSE_MS));
    };
    const wrote = async (id: string, op: Version["op"], version: number): Promise<void> => {
      const at = this.#bench.clock.now();
      const found = op === "delete" ? null : await store.get(id);
      this.#versions.push({ op, version, at, record: found && decodeRecord(id, found.value) });
    };
    return {
      async get(id) {
        const found = await store.get(id);
        await pause();
        return found;
      },
      async insert(record) {
        const result = await store.insert(record);
        if (result === "inserted") await wrote(record.id, "insert", 1);
        return result;
      },
      async compareAndSwap(id, version, change) {
        await pause();
        const before = (await store.get(id))?.version ?? 0;
        const swapped = await store.compareAndSwap(id, version, change);
        if (swapped) await wrote(id, "update", before + 1);
        return swapped;
      },
      async delete(id, version) {
        const removed = await store.delete(id, version);
        if (removed) await wrote(id, "delete", version);
        return removed;
      },
      findByName: (name) => store.findByName(name),
      list: (options) => store.list(options),
      claimDue: (claim) => store.claimDue(claim),
      earliestDue: () => store.earliestDue(),
      close: () => Promise.resolve(),
    };
  }
}
