import type { Hono } from "hono";
import type { Budgets } from "../src/gateway/budgets.js";
import type { DriverProgress } from "../src/driver/driver.js";
import type { Gateway } from "../src/gateway/gateway.js";
import { buildApp } from "../src/http/app.js";
import type { SandboxView } from "../src/http/view.js";
import { EventText } from "../src/page/event-text.js";
import type { SandboxRecord } from "../src/record/record.js";
import { LiveView } from "../src/terminal/live-view.js";
import { eventually } from "../src/testing/index.js";
import { Bench, BUDGETS } from "./bench.js";

export const IMAGE = "local-big:1";

/** Room for what took minutes; silence is no fault, for the reported driver was silent. */
const PATIENT: Budgets = { ...BUDGETS, preparationMs: 1_800_000, stallMs: undefined };

/**
 * The way of a driver's report to a person, on virtual time: driver, record, event stream, line on a terminal. Whoever
 * says something here has it shown before time goes on.
 */
export class ProgressPath {
  readonly bench: Bench;
  readonly views: SandboxView[] = [];
  readonly #gateway: Gateway;
  readonly #id: string;
  readonly #startedAt: number;
  readonly #stream: ReadableStreamDefaultReader<Uint8Array>;
  #text = "";

  private constructor(bench: Bench, gateway: Gateway, id: string, startedAt: number, stream: ReadableStream) {
    this.bench = bench;
    this.#gateway = gateway;
    this.#id = id;
    this.#startedAt = startedAt;
    this.#stream = stream.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    const live = new LiveView({ write: (part) => (this.#text += part) }, () => bench.clock.now());
    void this.#follow(live).finally(() => live.end());
  }

  static async open(): Promise<ProgressPath> {
    const bench = await Bench.open();
    const gateway = await bench.gateway("one", { budgets: PATIENT, leaseMs: 60_000 });
    const startedAt = bench.clock.now();
    const { spec } = bench.request;
    const { record } = await gateway.create({ ...bench.request, spec: { ...spec, image: { name: IMAGE } } });
    await bench.settle();
    const app: Hono = buildApp({ gateway, log: () => undefined });
    const { body } = await app.request(`/v1/sandboxes/${record.id}/watch`);
    if (body === null) throw new Error("the stream has no body");
    const path = new ProgressPath(bench, gateway, record.id, startedAt, body);
    await path.#shown();
    return path;
  }

  /** What a person has read so far. */
  get lines(): readonly string[] {
    return this.#text.split("\n").slice(0, -1);
  }

  /** The step as the last view has it. */
  step(name: string): SandboxView["steps"][number] {
    const found = this.views.at(-1)?.steps.find(({ step }) => step === name);
    if (found === undefined) throw new Error(`no step ${name}`);
    return found;
  }

  async at(ms: number): Promise<void> {
    await this.bench.pass(this.#startedAt + ms - this.bench.clock.now());
    await this.#shown();
  }

  /** Hands reports to the gateway as the driver does that works for it now. */
  async say(...reports: readonly DriverProgress[]): Promise<void> {
    for (const report of reports) this.bench.driver.launches.at(-1)?.context.report(report);
    await this.bench.settle();
    await this.#shown();
  }

  /** The driver begins its work again, in another run. */
  async beginAgain(): Promise<void> {
    const { launches } = this.bench.driver;
    const before = launches.length;
    launches.at(-1)?.fail(new Error("the driver was restarted"));
    await this.bench.pass(1000);
    await eventually("another run", () => Promise.resolve(launches.length > before));
    await this.#shown();
  }

  record(): Promise<SandboxRecord> {
    return this.bench.read(this.#gateway, this.#id);
  }

  refusals(): readonly string[] {
    return this.#gateway.refusals.of(this.#id).map(({ why }) => why);
  }

  async close(): Promise<void> {
    await this.#stream.cancel();
    await this.bench.close();
  }

  async #shown(): Promise<void> {
    await eventually("everything is shown", async () => {
      const found = await this.#gateway.records.read(this.#id);
      return found?.version === this.views.at(-1)?.version;
    });
  }

  async #follow(live: LiveView): Promise<void> {
    const [text, decoder] = [new EventText(), new TextDecoder()];
    for (let part = await this.#stream.read(); !part.done; part = await this.#stream.read()) {
      for (const { event, data } of text.push(decoder.decode(part.value, { stream: true }))) {
        if (event !== "sandbox") continue;
        const view = JSON.parse(data) as SandboxView;
        live.show(view);
        this.views.push(view);
      }
    }
  }
}
