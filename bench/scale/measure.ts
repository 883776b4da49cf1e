import { randomUUID } from "node:crypto";
import { cpuUsage, memoryUsage } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "slipway";
import { Gateway } from "../../examples/gateway-core/src/gateway/gateway.js";
import { openStore, type OpenStore } from "../../examples/gateway-core/src/store/open-store.js";
import { eventually } from "../../examples/gateway-core/src/testing/eventually.js";
import { instanceIdOf } from "../../examples/gateway-core/src/record/record.js";
import { takeCounts } from "./count-queries.js";
import { MemoryDriver } from "./memory-driver.js";
import { BUDGETS, idOf, preparingRecord, readyRecords } from "./records.js";
import type { DatabaseLoad, ScaledStore } from "./scaled-store.js";

/** Nothing but the sweep that is measured. */
const NEVER_MS = 2_000_000_000;
const SESSION_MS = 3_600_000;
/** Time to write them all down. */
const WRITING_MS = 20_000;
const WRITING_EACH_MS = 4;
/** From there to the first deadline; less than what passes until the passing of time itself is written. */
const LEAD_MS = 5000;
const WINDOW_MS = 10_000;
const LIMIT_MS = 600_000;

export interface Cost extends DatabaseLoad {
  readonly wallMs: number;
  readonly gatewayCpuMs: number;
}

export interface SweepResult {
  readonly records: number;
  readonly start: Cost;
  readonly sweep: Cost;
  /** Bytes of the gateway's heap for each record. */
  readonly heapEach: number;
  readonly bytesEach: number;
}

export interface ExpiryResult {
  readonly due: number;
  readonly lateness: { readonly p50: number; readonly p99: number; readonly max: number };
  /** From the first deadline to the last expiry, and to the last cleanup. */
  readonly expiredMs: number;
  readonly cleanedMs: number;
  readonly cost: Cost;
  readonly failures: Readonly<Record<string, number>>;
  /** What the gateway asked its database, by the beginning of the statement. */
  readonly asked: Readonly<Record<string, number>>;
}

/** One gateway over one store, grown step by step. */
export class Scale implements AsyncDisposable {
  readonly #scaled: ScaledStore;
  readonly #driver = new MemoryDriver();
  #records = 0;
  #open: { readonly gateway: Gateway; readonly store: OpenStore } | null = null;
  #failures: Record<string, number> = {};

  constructor(scaled: ScaledStore) {
    this.#scaled = scaled;
  }

  /** Grows to so many sandboxes that run, comes up over them, and sweeps. */
  async sweepOver(records: number): Promise<SweepResult> {
    await this.#close();
    await this.#grow(records);
    const before = heap();
    const start = await this.#cost(() => this.#start());
    await this.#gateway.reconcile();
    const sweep = await this.#cost(() => this.#gateway.reconcile());
    const heapEach = (heap() - before) / records;
    return { records, start, sweep, heapEach, bytesEach: (await this.#scaled.bytes()) / records };
  }

  /** Lets so many deadlines pass within ten seconds, of attempts that somebody else wrote down. */
  async expire(due: number): Promise<ExpiryResult> {
    const { hub, clock } = this.#gateway;
    const late: number[] = [];
    const left = new Set<string>();
    let firstAt = Number.POSITIVE_INFINITY;
    let lastAt = 0;
    let cleaned = 0;
    let cleanedAt = 0;
    const listening = hub.subscribe(({ id, record }) => {
      const state = record?.deadline ?? null;
      if (state === null || state.expiry === null) return;
      if (left.delete(id)) {
        late.push(clock.now() - state.expiry.at);
        firstAt = Math.min(firstAt, state.expiry.at);
        lastAt = clock.now();
      }
      if (state.cleanup.status !== "done") return;
      cleaned += 1;
      cleanedAt = clock.now();
    });
    const now = clock.now() + WRITING_MS + due * WRITING_EACH_MS;
    const records = Array.from({ length: due }, (_, index) =>
      preparingRecord(this.#records + index, now + LEAD_MS + Math.round((index * WINDOW_MS) / due), now),
    );
    this.#driver.run(records.map(({ id }) => id));
    for (const { id } of records) left.add(id);
    await this.#scaled.fill(records);
    this.#records += due;
    if (clock.now() > now + LEAD_MS)
      throw new Error("the machine is too slow: deadlines passed before they were written");
    await delay(Math.max(0, now + LEAD_MS - clock.now()));
    takeCounts();
    const cost = await this.#cost(() =>
      eventually(
        "every expiry and cleanup",
        () => Promise.resolve(left.size === 0 && cleaned >= due),
        LIMIT_MS,
      ),
    );
    listening[Symbol.dispose]();
    late.sort((one, other) => one - other);
    const at = (share: number): number => late[Math.floor((late.length - 1) * share)] ?? Number.NaN;
    return {
      due,
      lateness: { p50: at(0.5), p99: at(0.99), max: at(1) },
      expiredMs: lastAt - firstAt,
      cleanedMs: cleanedAt - firstAt,
      cost,
      failures: this.#failures,
      asked: takeCounts(),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }

  get #gateway(): Gateway {
    if (this.#open === null) throw new Error("no gateway runs");
    return this.#open.gateway;
  }

  async #grow(records: number): Promise<void> {
    const now = Date.now();
    const added = readyRecords(this.#records, records - this.#records, now);
    this.#records = records;
    await this.#scaled.fill(added);
    this.#driver.run(added.map(({ id }) => id));
  }

  async #start(): Promise<void> {
    const { dataDir, databaseUrl } = this.#scaled;
    this.#failures = {};
    const log = (event: string): void => {
      if (/failed|skipped|lost|unknown|unkept/.test(event))
        this.#failures[event] = (this.#failures[event] ?? 0) + 1;
    };
    const store = await openStore({ dataDir, databaseUrl, clock: systemClock, log });
    const { clock, ledger, sessionStore } = store;
    // Every sandbox talks to another replica, as two thirds of them do where there are three.
    for (let index = 0; index < this.#records && sessionStore !== undefined; index += 1000) {
      const sessions = Array.from({ length: Math.min(1000, this.#records - index) }, (_, offset) => {
        const id = idOf(index + offset);
        return { id, instanceId: instanceIdOf(id, 1), owner: "other", until: clock.now() + SESSION_MS };
      });
      await sessionStore.keepSessions(sessions);
    }
    const gateway = new Gateway({
      ...{ store: store.store, sessionStore, ledger, clock, log, owner: "bench", newId: randomUUID },
      drivers: [this.#driver],
      budgets: BUDGETS,
      gatewayUrl: () => "http://127.0.0.1:1",
      sweepEveryMs: NEVER_MS,
    });
    await gateway.start();
    store.follow(gateway);
    this.#open = { gateway, store };
  }

  async #close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await open?.gateway.close();
    await open?.store[Symbol.asyncDispose]();
  }

  async #cost(work: () => Promise<unknown>): Promise<Cost> {
    const before = await this.#scaled.load();
    const cpu = cpuUsage();
    const began = performance.now();
    await work();
    const wallMs = performance.now() - began;
    const { user, system } = cpuUsage(cpu);
    // The server tells of its transactions a moment later.
    await delay(1200);
    const after = await this.#scaled.load();
    return {
      wallMs,
      gatewayCpuMs: (user + system) / 1000,
      transactions: after.transactions - before.transactions,
      cpuMs: after.cpuMs - before.cpuMs,
    };
  }
}

function heap(): number {
  if (globalThis.gc === undefined) throw new Error("run with --expose-gc");
  for (let turn = 0; turn < 2; turn += 1) globalThis.gc();
  return memoryUsage().heapUsed;
}
