import {
  DEFAULT_BUDGETS,
  serveGateway,
  type Budgets,
  type RunningGateway,
} from "@slipway-examples/gateway-core";
import { TempDirs } from "@slipway-examples/gateway-core/testing";
import type { Clock } from "slipway";
import { seededRandom } from "slipway/testing";
import { KubeClient } from "../src/api/kube-client.js";
import { onAbort } from "../src/api/on-abort.js";
import { gatewayParts } from "../src/kubernetes-gateway.js";
import type { Transport } from "../src/api/transport.js";
import type { KubeObject } from "./apiserver/index.js";
import type { Handle, Runtime } from "./cluster/index.js";
import { NAMESPACE, SETTINGS } from "./kit.js";

/** As the manifests have it: how far a pull is cannot be seen, so its silence means nothing. */
export const BUDGETS: Budgets = { ...DEFAULT_BUDGETS, stallMs: undefined };

/** Folders of gateways; a test file removes them when it is done. */
export const tempDirs = new TempDirs();

type Core = RunningGateway["gateway"];

/** As the bundled supervisor words it. */
const NOT_REPLAYED = "BootstrapCancelled";

/** A gateway whose process can be killed: from then on nothing of it reaches the cluster. */
export class Replica {
  readonly running: RunningGateway;
  readonly #death: AbortController;

  private constructor(running: RunningGateway, death: AbortController) {
    this.running = running;
    this.#death = death;
  }

  /** On records in the cluster where `store` says so, else on a file of its own. */
  static async start(options: {
    readonly clock: Clock;
    readonly transport: Transport;
    readonly store: "cluster" | "sqlite";
    readonly seed: number;
    readonly dataDir?: string;
    readonly budgets?: Budgets;
    readonly log?: (event: string, fields: object) => void;
  }): Promise<Replica> {
    const { clock, transport, seed } = options;
    const death = new AbortController();
    const mortal: Transport = async (request) => {
      death.signal.throwIfAborted();
      const controller = new AbortController();
      const end = (): void => controller.abort(new Error("the process is gone"));
      onAbort(request.signal, end);
      onAbort(death.signal, end);
      const reply = await transport({ ...request, signal: controller.signal });
      death.signal.throwIfAborted();
      return reply;
    };
    const random = seededRandom(seed);
    const client = new KubeClient({ transport: mortal, clock, random });
    const settings = { sandboxes: SETTINGS, store: options.store, version: undefined, tls: undefined };
    const running = await serveGateway({
      clock,
      dataDir: options.dataDir ?? (await tempDirs.make()),
      budgets: options.budgets ?? BUDGETS,
      ...gatewayParts(settings, () => client, random),
      log: (event, fields) => options.log?.(event, fields),
    });
    return new Replica(running, death);
  }

  get core(): Core {
    return this.running.gateway;
  }

  /** As `kill -9`: what is under way is cut off, and nothing is put in order. */
  async kill(): Promise<void> {
    this.#death.abort(new Error("killed"));
    await this.running.close().catch(() => undefined);
  }
}

/**
 * Supervisors inside this process, on the clock of the cluster: each waits for a gateway, authenticates, has its
 * configuration accepted, claims the activation, and then its main process counts as started. Fakes the network and
 * the workload; the token comes from the pod's Secret, and every answer from the gateway's own rules.
 */
export class InProcessSupervisors implements Runtime {
  /** Main processes that were started, by `sandbox/instance`. */
  readonly started = new Map<string, number>();
  /** Main processes that run now, by sandbox. */
  readonly live = new Map<string, number>();
  /** Starts of a main process before its policy was accepted. There must be none. */
  mostLive = 0;
  readonly #handle: () => Handle;
  readonly #gateway: () => Core | null;
  readonly #clock: Clock;
  readonly #exitAfterMs: (pod: KubeObject) => number | null;

  constructor(options: {
    readonly handle: () => Handle;
    readonly gateway: () => Core | null;
    readonly clock: Clock;
    readonly exitAfterMs?: (pod: KubeObject) => number | null;
  }) {
    this.#handle = options.handle;
    this.#gateway = options.gateway;
    this.#clock = options.clock;
    this.#exitAfterMs = options.exitAfterMs ?? (() => null);
  }

  start(...[pod, container, , events]: Parameters<Runtime["start"]>): ReturnType<Runtime["start"]> {
    const ended = new AbortController();
    const exit = (code: number): void => {
      if (ended.signal.aborted) return;
      ended.abort(new Error("the container ended"));
      this.#clock.schedule(this.#clock.now(), () => events.exited(code), { unref: true });
    };
    const env = container["env"] as {
      name: string;
      value?: string;
      valueFrom?: { secretKeyRef: { name: string } };
    }[];
    const value = (name: string): string => env.find((each) => each.name === name)?.value ?? "";
    const secret = env.find(({ name }) => name === "SLIPWAY_TOKEN")?.valueFrom?.secretKeyRef.name ?? "";
    const [id, run] = [value("SLIPWAY_SANDBOX"), Number(value("SLIPWAY_RUN"))];
    const work = { id, run, secret, pod, ready: () => events.ready(true), exit, signal: ended.signal };
    this.#supervise(work).catch(() => exit(70));
    return { signal: () => exit(143) };
  }

  async #supervise(work: {
    readonly id: string;
    readonly run: number;
    readonly secret: string;
    readonly pod: KubeObject;
    readonly ready: () => void;
    readonly exit: (code: number) => void;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { id, run, signal, exit } = work;
    const found = this.#handle().find("secrets", NAMESPACE, work.secret) as unknown as {
      data: { token: string };
    } | null;
    const token = Buffer.from(found?.data.token ?? "", "base64").toString();
    const claim = work.pod.metadata.uid;
    for (;;) {
      if (isOver(signal)) return;
      const gateway = this.#gateway();
      const outcome =
        gateway === null
          ? "away"
          : await this.#once(gateway, { id, run, token, claim }).catch(() => "away" as const);
      if (isOver(signal)) return;
      if (outcome === "dismissed") {
        exit(1);
        return;
      }
      if (outcome !== "away") {
        const key = `${id}/${outcome.instance}`;
        this.started.set(key, (this.started.get(key) ?? 0) + 1);
        this.live.set(id, (this.live.get(id) ?? 0) + 1);
        this.mostLive = Math.max(this.mostLive, this.live.get(id) ?? 0);
        signal.addEventListener("abort", () => this.live.set(id, (this.live.get(id) ?? 1) - 1), {
          once: true,
        });
        work.ready();
        await this.#tell({ id, run, token }, { kind: "ready", generation: outcome.generation }, signal);
        const exitAfterMs = this.#exitAfterMs(work.pod);
        if (exitAfterMs === null) return;
        await this.#sleep(exitAfterMs);
        if (isOver(signal)) return;
        await this.#tell({ id, run, token }, { kind: "exited", exitCode: 0, signal: null }, signal);
        exit(0);
        return;
      }
      await this.#sleep(1000);
    }
  }

  async #once(
    gateway: Core,
    { id, run, token, claim }: { id: string; run: number; token: string; claim: string },
  ): Promise<"away" | "dismissed" | { readonly instance: string; readonly generation: number }> {
    const found = await gateway.authenticate(id, token, run);
    if (typeof found === "string") return "dismissed";
    const { generation } = found.record.configuration;
    const accepted = await gateway.report(id, token, run, { kind: "accepted", generation });
    if (!accepted.ok) return accepted.code === "not-current" ? "away" : "dismissed";
    const next = { state: "activating", version: 1, claim, at: 0 } as const;
    const entry = await gateway.activations.read(found.record);
    if (entry?.state === "active" && entry.claim !== claim) {
      const message = "The instance is active already; nothing is replayed.";
      const said = { kind: "bootstrap", succeeded: false, reason: NOT_REPLAYED, message } as const;
      await gateway.report(id, token, run, said);
      return "dismissed";
    }
    const mine = entry?.claim === claim && entry.state === "activating";
    const claimed = mine || (await gateway.activations.swap(found.record, { expectedVersion: null, next }));
    if (!claimed) return "dismissed";
    const active = { ...next, state: "active", version: 2 } as const;
    await gateway.activations.swap(found.record, { expectedVersion: 1, next: active });
    return { instance: found.record.instance?.id ?? "?", generation };
  }

  /** Until a gateway has taken it or refused it. */
  async #tell(
    { id, run, token }: { id: string; run: number; token: string },
    report: Parameters<Core["report"]>[3],
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      const gateway = this.#gateway();
      const result = gateway === null ? null : await gateway.report(id, token, run, report).catch(() => null);
      if (result !== null) return;
      await this.#sleep(1000);
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.schedule(this.#clock.now() + ms, resolve, { unref: true });
    });
  }
}

export const SPEC = {
  driver: "kubernetes",
  image: { name: "docker.io/library/node:20" },
  command: ["work"],
  driverOptions: {},
  budgets: {},
};

/** Asked again after each wait, in which it may have changed. */
function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}
