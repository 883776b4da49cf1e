import { GatewayClient } from "../client/gateway-client.js";
import { DEFAULT_BUDGETS } from "../gateway/budgets.js";
import type { SandboxView } from "../http/view.js";
import type { ServeOptions } from "../serve-options.js";
import { serveGateway, type RunningGateway } from "../serve.js";
import { eventually } from "./eventually.js";

/** What a test says of its gateway; everything but drivers and folder has a default. */
export type StartedGatewayOptions = Pick<ServeOptions, "drivers" | "dataDir"> & Partial<ServeOptions>;

/** A whole gateway in this process on a free port, with a client of its API. */
export class StartedGateway {
  readonly client: GatewayClient;
  /** What the gateway logged, one line for each event. */
  readonly logged: readonly string[];
  readonly #running: RunningGateway;

  private constructor(running: RunningGateway, client: GatewayClient, logged: readonly string[]) {
    this.#running = running;
    this.client = client;
    this.logged = logged;
  }

  static async start(options: StartedGatewayOptions): Promise<StartedGateway> {
    const logged: string[] = [];
    const running = await serveGateway({
      budgets: DEFAULT_BUDGETS,
      log: (event, fields) => void logged.push(`${event} ${JSON.stringify(fields)}`),
      ...options,
    });
    const { url } = running;
    return new StartedGateway(running, new GatewayClient({ url, token: options.ownerToken }), logged);
  }

  get url(): string {
    return this.#running.url;
  }

  get gateway(): RunningGateway["gateway"] {
    return this.#running.gateway;
  }

  /** Polls one sandbox until something is true of it. */
  async until(sandbox: string, seen: (view: SandboxView) => boolean, limitMs?: number): Promise<SandboxView> {
    let last: SandboxView | undefined;
    const look = async (): Promise<SandboxView | false> => {
      last = await this.client.get(sandbox);
      return seen(last) && last;
    };
    return eventually(`what ${sandbox} should become`, look, limitMs).catch((error: unknown) => {
      const { phase, reason, message } = last ?? {};
      throw new Error(`the sandbox is ${phase}/${reason}: ${message}`, { cause: error });
    });
  }

  /** Deletes every sandbox and waits until none is left. */
  async removeAll(limitMs?: number): Promise<void> {
    for (const { id } of (await this.client.list({ limit: 500 })).items) await this.client.delete(id);
    const look = async (): Promise<boolean> => (await this.client.list()).items.length === 0;
    await eventually("nothing left", look, limitMs);
  }

  /** Ends the gateway; what it started goes on as it does when a gateway ends. */
  async close(): Promise<void> {
    await this.#running.close();
  }
}
