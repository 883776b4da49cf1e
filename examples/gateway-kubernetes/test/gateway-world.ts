import type { Budgets } from "@slipway-examples/gateway-core";
import { VirtualClock } from "slipway/testing";
import { intentOf, type SandboxVersion } from "../src/resource/sandbox-api.js";
import type { Transport } from "../src/api/transport.js";
import type { Release } from "./cluster/index.js";
import { BUDGETS, InProcessSupervisors, Replica } from "./gateway-kit.js";
import { aheadBy, Driven, NAMESPACE, startNode } from "./kit.js";

/** Where a gateway's records may be. */
export const STORES = ["sqlite", "cluster"] as const;

/** A cluster with supervisors in its pods, and gateways that come and go, all on one virtual clock. */
export async function startWorld(
  release: Release,
  store: (typeof STORES)[number],
  more: {
    exitAfterMs?: number;
    pullMs?: number;
    /** The gateway that a supervisor's next call reaches, of those that are alive. Default: the first. */
    route?: (alive: readonly Replica[]) => Replica | null;
    /** Writes that the API server remembers; older ones it has compacted. */
    historyLimit?: number;
  } = {},
) {
  const clock = new VirtualClock();
  const driven = new Driven(clock);
  const replicas: Replica[] = [];
  let seed = 100;
  const alive = (): Replica | null => replicas[0] ?? null;
  const runtime: InProcessSupervisors = new InProcessSupervisors({
    clock,
    handle: () => api.node.handle,
    gateway: () => (more.route === undefined ? alive() : more.route(replicas))?.core ?? null,
    exitAfterMs: () => more.exitAfterMs ?? null,
  });
  const api = await startNode({
    clock,
    release,
    runtime,
    ...(more.pullMs === undefined ? {} : { pullMs: more.pullMs }),
    ...(more.historyLimit === undefined ? {} : { historyLimit: more.historyLimit }),
  });
  const logged: string[] = [];
  let asked = 0;
  const it = {
    ...api,
    clock,
    driven,
    runtime,
    replicas,
    logged,
    alive,
    core: () => {
      const replica = alive();
      if (replica === null) throw new Error("no gateway is alive");
      return replica.core;
    },
    async gateway(
      host: { aheadMs?: number; budgets?: Partial<Budgets>; stepMs?: number } = {},
    ): Promise<Replica> {
      seed += 1;
      const own = driven.watched(api.transport());
      const transport: Transport = (request) => {
        asked += 1;
        return own(request);
      };
      const log = (event: string, fields: object): void =>
        void logged.push(`${event} ${JSON.stringify(fields)}`);
      const starting = Replica.start({
        clock: aheadBy(clock, host.aheadMs ?? 0),
        transport,
        store,
        seed,
        log,
        budgets: { ...BUDGETS, ...host.budgets },
      });
      const replica = await it.during(starting, 300_000, host.stepMs);
      replicas.push(replica);
      return replica;
    },
    async kill(replica: Replica): Promise<void> {
      replicas.splice(replicas.indexOf(replica), 1);
      await it.during(replica.kill());
    },
    async during<T>(work: Promise<T>, limitMs = 300_000, stepMs?: number): Promise<T> {
      let done = false;
      work.then(
        () => (done = true),
        () => (done = true),
      );
      await driven.run(limitMs, () => done, stepMs);
      if (!(done as boolean)) throw new Error(`not done within ${limitMs} virtual milliseconds`);
      return work;
    },
    async phase(name: string): Promise<string> {
      const found = await it.during(it.core().records.findByName(name));
      return found === null ? "none" : `${found.record.phase}/${found.record.reason}`;
    },
    async id(name: string): Promise<string> {
      return (await it.during(it.core().records.findByName(name)))?.record.id ?? "";
    },
    async until(name: string, wanted: string | RegExp, limitMs = 600_000): Promise<void> {
      let last = "";
      for (let passed = 0; passed < limitMs; passed += 1000) {
        last = await it.phase(name);
        if (typeof wanted === "string" ? last.startsWith(wanted) : wanted.test(last)) return;
        await driven.run(1000);
      }
      throw new Error(
        `${name} is ${last} and never became ${String(wanted)}: ${logged.slice(-8).join("\n")}`,
      );
    },
    /** Requests that gateways sent, also those that nobody took. */
    get asked(): number {
      return asked;
    },
    /** As a pod is started again and again until the API server is there. */
    async gatewayAtLast(): Promise<void> {
      for (let tries = 1; ; tries += 1) {
        const started = await it.gateway().catch((error: unknown) => error);
        if (!(started instanceof Error)) return;
        if (tries === 20) throw started;
        await driven.run(10_000);
      }
    },
    /** The most requests that the API server was asked in one second of the latest ones. */
    busiestSecond(): number {
      const seconds = new Map<number, number>();
      for (const { at } of api.server.ledger.recent) {
        const second = Math.floor(at / 1000);
        seconds.set(second, (seconds.get(second) ?? 0) + 1);
      }
      return Math.max(0, ...seconds.values());
    },
    async suspend(version: SandboxVersion, name: string): Promise<void> {
      const path = `/apis/agents.x-k8s.io/${version}/namespaces/${NAMESPACE}/sandboxes/${name}`;
      await api.admin.patch(
        path,
        { spec: intentOf(version, false) },
        { signal: new AbortController().signal },
      );
    },
    claim: (name: string) =>
      api.node.handle.find("persistentvolumeclaims", NAMESPACE, `workspace-${name}`)?.metadata.uid,
    async [Symbol.asyncDispose]() {
      // Its last listing waits for a stream, as long as it would for its user.
      for (const replica of replicas.splice(0)) await it.during(replica.kill());
      await api[Symbol.asyncDispose]();
    },
  };
  return it;
}
