import fc from "fast-check";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import type { SandboxRecord } from "../src/record/record.js";
import type { RecordStore } from "../src/store/record-store.js";
import { SqliteStore } from "../src/store/sqlite-store.js";
import { Bench } from "./bench.js";
import { contradictions, inconsistencies } from "./kill-invariants.js";
import { seededRandom } from "./random.js";
import { tempDir } from "./temp-dir.js";

const ACTIONS = [
  "start",
  "stop",
  "delete",
  "accepted",
  "ready",
  "exit-0",
  "exit-1",
  "launch-succeeds",
  "launch-fails",
  "supervisor-dies",
  "sweep",
  "update",
  "pass-short",
  "pass-long",
  "settle",
] as const;
type Action = (typeof ACTIONS)[number];

/** Rare is what ends the story. */
const action = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(...ACTIONS.filter((name) => name !== "delete")) },
  { weight: 1, arbitrary: fc.constant("delete" as const) },
);

/** A store that answers when it likes: between a read and its write there is room for everybody else. */
class SlowStore implements RecordStore {
  readonly #store: RecordStore;
  readonly #pause: () => Promise<void>;
  conflicts = 0;

  constructor(store: RecordStore, pause: () => Promise<void>) {
    this.#store = store;
    this.#pause = pause;
  }

  async #around<T>(work: () => Promise<T>): Promise<T> {
    await this.#pause();
    const result = await work();
    await this.#pause();
    return result;
  }

  insert: RecordStore["insert"] = (record) => this.#store.insert(record);
  get: RecordStore["get"] = (id) => this.#around(() => this.#store.get(id));
  findByName: RecordStore["findByName"] = (name) => this.#store.findByName(name);
  compareAndSwap: RecordStore["compareAndSwap"] = async (...args) => {
    const swapped = await this.#around(() => this.#store.compareAndSwap(...args));
    if (!swapped) this.conflicts += 1;
    return swapped;
  };
  delete: RecordStore["delete"] = (...args) => this.#around(() => this.#store.delete(...args));
  list: RecordStore["list"] = (options) => this.#around(() => this.#store.list(options));
  due: RecordStore["due"] = (options) => this.#store.due(options);
  earliestDue: RecordStore["earliestDue"] = () => this.#store.earliestDue();
  close: RecordStore["close"] = () => this.#store.close();
}

/** Everything that was ever written of one sandbox, in order. */
interface Written {
  readonly version: number;
  readonly record: SandboxRecord | null;
}

class Story {
  readonly written: Written[] = [];
  readonly #bench: Bench;
  readonly #gateway: Gateway;
  readonly #id: string;
  readonly #running: Promise<unknown>[] = [];

  constructor(bench: Bench, gateway: Gateway, id: string) {
    this.#bench = bench;
    this.#gateway = gateway;
    this.#id = id;
  }

  /** Begins an action and waits for nothing but time. */
  async begin(action: Action): Promise<void> {
    const { driver } = this.#bench;
    const id = this.#id;
    const launch = driver.launches.at(-1);
    const exited = (exitCode: number) => this.#report({ kind: "exited", exitCode, signal: null });
    switch (action) {
      case "start": {
        this.#meanwhile(this.#gateway.startSandbox(id));
        return;
      }
      case "stop": {
        this.#meanwhile(this.#gateway.stopSandbox(id));
        return;
      }
      case "delete": {
        this.#meanwhile(this.#gateway.deleteSandbox(id));
        return;
      }
      case "accepted":
      case "ready": {
        this.#meanwhile(this.#report({ kind: action, generation: 1 }));
        return;
      }
      case "exit-0": {
        this.#meanwhile(exited(0));
        return;
      }
      case "exit-1": {
        this.#meanwhile(exited(1));
        return;
      }
      case "launch-succeeds":
        if (launch?.context.signal.aborted === false) launch.succeed();
        return;
      case "launch-fails":
        launch?.fail(new Error("no luck"));
        return;
      case "supervisor-dies":
        driver.running.get(id)?.gone();
        return;
      case "sweep": {
        this.#meanwhile(this.#gateway.reconcile());
        return;
      }
      case "update": {
        this.#meanwhile(this.#gateway.update(id, { policy: { version: 1 } }));
        return;
      }
      case "pass-short":
        return this.#bench.clock.advanceAsync(700);
      case "pass-long":
        return this.#bench.clock.advanceAsync(7000);
      case "settle":
        return this.#bench.settle();
    }
  }

  async finish(): Promise<void> {
    for (let round = 0; round < 40; round += 1) {
      await this.#bench.clock.advanceAsync(10_000);
      await this.#bench.settle();
    }
    await Promise.all(this.#running);
    await this.#bench.settle();
  }

  #meanwhile(work: Promise<unknown>): void {
    // A request for what is gone by then is refused, and that is all right.
    this.#running.push(work.catch((error: unknown) => error));
  }

  async #report(report: Parameters<Gateway["report"]>[3]): Promise<unknown> {
    const found = await this.#gateway.records.read(this.#id);
    if (found === null) return null;
    const { deadline, run, configuration } = found.record;
    const current = "generation" in report ? { ...report, generation: configuration.generation } : report;
    return this.#gateway.report(this.#id, deadline?.attempt ?? "", run, current);
  }
}

/** What no order of events may bring about. */
function faultsOf(written: readonly Written[]): string[] {
  const faults: string[] = [];
  let before: SandboxRecord | null = null;
  let version = 0;
  for (const { version: next, record } of written) {
    if (next !== version + 1) faults.push(`version ${next} after ${version}`);
    version = next;
    if (record === null) continue;
    const snapshot = new Map([[record.id, record]]);
    faults.push(...inconsistencies(snapshot));
    if (before !== null) {
      faults.push(...contradictions(new Map([[before.id, before]]), snapshot));
      faults.push(...replays(before, record));
    }
    before = record;
  }
  return faults;
}

function replays(before: SandboxRecord, after: SandboxRecord): string[] {
  const faults: string[] = [];
  const { phase } = after;
  const sameAttempt = before.attemptNumber === after.attemptNumber;
  if (after.run < before.run) faults.push("a run went back");
  if (before.desired === "deleted" && after.desired !== "deleted") faults.push("a delete was taken back");
  const ended = before.phase === "Completed" || before.phase === "Error";
  const goesOn = phase === "Ready" || phase === "Provisioning" || phase === "Starting";
  if (sameAttempt && ended && goesOn) faults.push(`${before.phase} became ${phase} within one attempt`);
  if (sameAttempt && before.activatedRun !== null && after.activatedRun !== before.activatedRun)
    faults.push("the main process was admitted twice in one attempt");
  if (sameAttempt && before.phase === "Stopped" && goesOn) faults.push(`Stopped became ${phase} by itself`);
  if (after.phase === "Ready" && after.desired !== "running") faults.push("Ready against the intent");
  return faults;
}

describe("any order of requests, reports, news, failures and sweeps", () => {
  const runs = Number(process.env["SLIPWAY_INTERLEAVINGS"] ?? 60);

  it(`loses no write, revives nothing, replays nothing and ends where it was told to (${runs} stories)`, async () => {
    let conflicts = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 5, maxLength: 40 }),
        fc.integer({ min: 1, max: 2 ** 31 - 1 }),
        async (actions, seed) => {
          const random = seededRandom(seed);
          const pause = async (): Promise<void> => {
            for (let ticks = Math.floor(random() * 4); ticks > 0; ticks -= 1)
              await new Promise((resolve) => setImmediate(resolve));
          };
          const bench = await Bench.open();
          const store = new SlowStore(new SqliteStore(join(await tempDir(), "story.db")), pause);
          bench.driver.pace = pause;
          bench.driver.onObserve = pause;
          const gateway = await bench.gateway("one", { store, sweepEveryMs: 3000 });
          const { record } = await gateway.create(bench.request);
          const story = new Story(bench, gateway, record.id);
          story.written.push({ version: 1, record });
          gateway.hub.subscribe((event) => story.written.push(event));
          try {
            for (const each of actions) {
              await story.begin(each);
              await pause();
            }
            await story.finish();
            // A store that answers late has its writes announced late: their versions tell the order.
            const inOrder = [...story.written].sort((a, b) => a.version - b.version);
            expect(faultsOf(inOrder)).toEqual([]);
            expect(bench.driver.mostAtOnce).toBeLessThanOrEqual(1);
            const end = (await gateway.records.read(record.id))?.record ?? null;
            expectAtPeace(end, bench.driver.running.has(record.id));
            conflicts += store.conflicts;
          } finally {
            await bench.close();
            await store.close();
          }
        },
      ),
      { numRuns: runs, seed: Number(process.env["SLIPWAY_INTERLEAVING_SEED"] ?? 4771), endOnFailure: true },
    );
    // The stories mean something only when writers met.
    expect(conflicts).toBeGreaterThan(runs / 4);
  }, 300_000);
});

/** Half an hour after the last event: what was asked for is so, and nothing runs that nobody knows of. */
function expectAtPeace(record: SandboxRecord | null, running: boolean): void {
  if (record === null) {
    expect(running).toBe(false);
    return;
  }
  const { phase, desired } = record;
  expect(desired).not.toBe("deleted");
  expect(record.deadline?.cleanup.status).not.toBe("pending");
  expect(record.startPending).toBe(false);
  if (desired === "stopped") expect(["Stopped", "Error", "Completed"]).toContain(phase);
  expect(["Ready", "Stopped", "Completed", "Error"]).toContain(phase);
  if (phase === "Ready") expect(running).toBe(true);
  if (phase === "Stopped") expect(running).toBe(false);
}
