import { VirtualClock } from "slipway/testing";
import { join } from "node:path";
import type { CreateRequest } from "../src/gateway/user-desk.js";
import { Gateway } from "../src/gateway/gateway.js";
import type { GatewayOptions } from "../src/gateway/gateway-options.js";
import type { SupervisorReport } from "../src/decide/supervisor-report.js";
import type { Budgets } from "../src/gateway/budgets.js";
import type { SandboxRecord } from "../src/record/record.js";
import { SqliteActivationLedger } from "../src/store/sqlite-activation-ledger.js";
import { SqliteStore } from "../src/store/sqlite-store.js";
import { FakeDriver } from "./fake-driver.js";
import { tempDir } from "./temp-dir.js";

/** A tenth of the real ones: each virtual second costs a few real writes. */
export const BUDGETS: Budgets = {
  preparationMs: 180_000,
  admissionMs: 30_000,
  admissionCeilingMs: 360_000,
  stallMs: 12_000,
  cleanupMs: 3000,
};

const REQUEST: CreateRequest = {
  name: "box",
  spec: {
    driver: "fake",
    image: { name: "image", path: "/image" },
    command: ["work"],
    driverOptions: {},
    budgets: {},
  },
  policy: { version: 1 },
};

/** Gateways on one store file, on a virtual clock, over one driver whose every step the test decides. */
export class Bench {
  readonly clock = new VirtualClock();
  readonly driver = new FakeDriver();
  readonly logged: string[] = [];
  /** Where the store is. */
  readonly path: string;
  readonly #open: { gateway: Gateway; store: SqliteStore; ledger: SqliteActivationLedger }[] = [];
  #ids = 0;

  private constructor(path: string) {
    this.path = path;
  }

  static async open(): Promise<Bench> {
    return new Bench(join(await tempDir(), "store.db"));
  }

  /** A gateway that has read what is there. */
  async gateway(owner = "one", options: Partial<GatewayOptions> = {}): Promise<Gateway> {
    const store = new SqliteStore(this.path);
    const ledger = new SqliteActivationLedger(this.path);
    const gateway = new Gateway({
      store,
      ledger,
      clock: this.clock,
      drivers: [this.driver],
      budgets: BUDGETS,
      owner,
      log: (event) => this.logged.push(event),
      gatewayUrl: () => "http://gateway",
      newId: () => `id-${(this.#ids += 1)}-${"0".repeat(8)}`,
      leaseMs: 3000,
      ...options,
    });
    this.#open.push({ gateway, store, ledger });
    await gateway.start();
    await this.settle();
    return gateway;
  }

  /** Throws a gateway away as a killed process would be: nothing is told to anybody, nothing is finished. */
  async kill(gateway: Gateway): Promise<void> {
    const index = this.#open.findIndex((open) => open.gateway === gateway);
    const [open] = this.#open.splice(index, 1);
    // Closing the store first makes every further step of this gateway fail.
    await open?.store.close();
    await open?.ledger.close();
    await gateway.close().catch(() => undefined);
  }

  storeOf(gateway: Gateway): SqliteStore {
    const open = this.#open.find((entry) => entry.gateway === gateway);
    if (open === undefined) throw new Error("this gateway was closed");
    return open.store;
  }

  async close(): Promise<void> {
    for (const { gateway, store, ledger } of this.#open.splice(0)) {
      await gateway.close();
      await store.close();
      await ledger.close();
    }
  }

  async settle(): Promise<void> {
    for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  async pass(ms: number): Promise<void> {
    await this.clock.advanceAsync(ms);
    await this.settle();
  }

  async create(gateway: Gateway): Promise<string> {
    const { record } = await gateway.create(REQUEST);
    await this.settle();
    return record.id;
  }

  /** Speaks as the supervisor of the current run. */
  async report(gateway: Gateway, id: string, report: SupervisorReport) {
    const { deadline, run } = await this.read(gateway, id);
    const result = await gateway.report(id, deadline?.attempt ?? "", run, report);
    await this.settle();
    return result;
  }

  /** Lets the latest launch succeed and its supervisor be admitted, once there is one for the current run. */
  async becomeReady(gateway: Gateway, id: string): Promise<SandboxRecord> {
    for (let tries = 0; tries < 50; tries += 1) {
      const { instance } = await this.read(gateway, id);
      const launch = this.driver.launches.findLast(({ request }) => request.instance.id === instance?.id);
      if (launch !== undefined && !launch.context.signal.aborted) {
        launch.succeed();
        break;
      }
      await this.pass(100);
    }
    await this.settle();
    const { generation } = (await this.read(gateway, id)).configuration;
    await this.report(gateway, id, { kind: "accepted", generation });
    await this.report(gateway, id, { kind: "ready", generation });
    return this.read(gateway, id);
  }

  get request(): CreateRequest {
    return REQUEST;
  }

  async read(gateway: Gateway, id: string): Promise<SandboxRecord> {
    const found = await gateway.records.read(id);
    if (found === null) throw new Error(`${id} is gone`);
    return found.record;
  }
}
