import { setTimeout as delay } from "node:timers/promises";
import type { PostgresServer } from "../../../examples/gateway-core/test/postgres-server.js";
import { nameOf, type Fault } from "../schedule.js";
import type { Replayer } from "./replayer.js";
import type { Replica } from "./replica.js";

/** Old reports that are delivered again in the time of one fault. */
const REPLAYS = 30;

export interface FaultTargets {
  readonly replicas: readonly Replica[];
  readonly database: PostgresServer;
  readonly replayer: Replayer;
  /** Whether clocks can be set. */
  readonly clocks: boolean;
}

/** Lets faults happen, each for its time, and makes everything whole again. */
export class Faults {
  readonly #targets: FaultTargets;
  readonly #under = new Set<Promise<void>>();
  /** How often each kind happened. */
  readonly happened = new Map<string, number>();
  /** One restart of the database at a time, and one at a time of each replica. */
  #database: Promise<void> = Promise.resolve();

  constructor(targets: FaultTargets) {
    this.#targets = targets;
  }

  /** Begins a fault and does not wait for its end. */
  begin(fault: Fault): void {
    if (fault.kind === "clock" && !this.#targets.clocks) return;
    const name = nameOf(fault);
    this.happened.set(name, (this.happened.get(name) ?? 0) + 1);
    const running = this.#run(fault).finally(() => this.#under.delete(running));
    this.#under.add(running);
  }

  /** Every fault is over, every replica runs, and clocks tell the truth. */
  async settled(): Promise<void> {
    await Promise.all(this.#under);
    for (const replica of this.#targets.replicas) {
      replica.proceed();
      replica.up();
      await replica.setClock(0);
    }
  }

  async #run(fault: Fault): Promise<void> {
    switch (fault.kind) {
      case "kill": {
        const replica = this.#replica(fault.replica);
        await replica.kill();
        await delay(fault.forMs);
        replica.up();
        return;
      }
      case "pause": {
        const replicas = fault.replicas.map((index) => this.#replica(index));
        for (const replica of replicas) replica.pause();
        await delay(fault.forMs);
        for (const replica of replicas) replica.proceed();
        return;
      }
      case "database":
        this.#database = this.#database.then(() => this.#restartDatabase(fault));
        return this.#database;
      case "cut": {
        const { database } = this.#replica(fault.replica);
        database.open = false;
        database.cut();
        await delay(fault.forMs);
        database.open = true;
        return;
      }
      case "slow": {
        const { database } = this.#replica(fault.replica);
        database.delayMs = fault.delayMs;
        await delay(fault.forMs);
        database.delayMs = 0;
        return;
      }
      case "clock":
        return this.#replica(fault.replica).setClock(fault.offsetMs);
      case "deliveries": {
        const { replayer } = this.#targets;
        replayer.mode = fault.mode;
        if (fault.mode === "duplicate") replayer.replayPast(REPLAYS, fault.forMs);
        await delay(fault.forMs);
        replayer.mode = "plain";
        return;
      }
    }
  }

  async #restartDatabase({ mode, forMs }: Fault & { kind: "database" }): Promise<void> {
    await this.#targets.database.down(mode);
    await delay(forMs);
    await this.#targets.database.up();
  }

  #replica(index: number): Replica {
    const replica = this.#targets.replicas[index];
    if (replica === undefined) throw new Error(`there is no replica ${index}`);
    return replica;
  }
}
