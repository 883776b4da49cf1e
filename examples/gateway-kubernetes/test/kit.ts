import { KubeConfig } from "@kubernetes/client-node";
import { loadAll } from "js-yaml";
import { readFileSync } from "node:fs";
import { systemClock, type Clock } from "slipway";
import { seededRandom, type VirtualClock } from "slipway/testing";
import { KubeClient, type KubeClientOptions } from "../src/api/kube-client.js";
import { kubeConfigTransport, type Transport } from "../src/api/transport.js";
import type { SandboxSettings } from "../src/resource/sandbox-settings.js";
import { ApiServer, type ApiServerOptions, type Grant, type PolicyRule } from "./apiserver/index.js";
import { Cluster as Node, convertSandbox, type ClusterOptions } from "./cluster/index.js";
import { Traffic } from "./traffic.js";

export const NAMESPACE = "slipway";

export const SETTINGS: SandboxSettings = {
  namespace: NAMESPACE,
  gateway: "gw",
  supervisorConfigMap: "slipway-supervisor",
  caConfigMap: "slipway-gateway-ca",
  graceSeconds: 5,
};

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly PolicyRule[];
}

/** The objects of a file of `deploy/`, as they are: the client library's own reader renames fields. */
export function manifests(file: string): Manifest[] {
  return loadAll(readFileSync(new URL(`../deploy/${file}`, import.meta.url), "utf8")) as Manifest[];
}

/** Of the resources that gateways keep their own things in. */
function ownDefinitions(): Manifest[] {
  return [...manifests("sandboxrecords.crd.yaml"), ...manifests("supervisorsessions.crd.yaml")];
}

/** The rights that `deploy/rbac.yaml` gives, role by role. */
export function deployedGrants(): Grant[] {
  return manifests("rbac.yaml").flatMap(({ kind, metadata, rules }) =>
    kind === "Role" && metadata.namespace !== undefined
      ? [{ namespace: metadata.namespace, rules: rules ?? [] }]
      : [],
  );
}

/** An API server with the definitions and rights of `deploy/`, and clients of it. */
export interface Api extends AsyncDisposable {
  readonly server: ApiServer;
  readonly clock: Clock;
  /** Of the gateway, with the rights of the manifests and nothing more. */
  client(options?: Partial<KubeClientOptions>): KubeClient;
  transport(token?: string): Transport;
  /** Of an administrator. */
  readonly admin: KubeClient;
}

/** An API server alone: nobody makes pods. */
export async function startCluster(options: Partial<ApiServerOptions> = {}): Promise<Api> {
  const clock = options.clock ?? systemClock;
  const server = await ApiServer.start({
    clock,
    random: seededRandom(1),
    namespaces: [NAMESPACE],
    objects: [...manifests("sandboxes.crd.yaml"), ...ownDefinitions()],
    converters: { "sandboxes.agents.x-k8s.io": convertSandbox },
    ...options,
  });
  return clientsOf(server, clock);
}

/** A whole cluster: agent-sandbox's controller in a release, a kubelet, volumes. */
export async function startNode(
  options: Pick<ClusterOptions, "release"> & Partial<ClusterOptions>,
): Promise<Api & { readonly node: Node }> {
  const clock = options.clock ?? systemClock;
  const node = await Node.start({
    clock,
    random: seededRandom(1),
    namespaces: [NAMESPACE],
    ...options,
    objects: [...ownDefinitions(), ...(options.objects ?? [])],
  });
  return { ...clientsOf(node.server, clock), node, [Symbol.asyncDispose]: () => node[Symbol.asyncDispose]() };
}

function clientsOf(server: ApiServer, clock: Clock): Api {
  server.addToken("gateway", {
    user: "system:serviceaccount:slipway:slipway-gateway",
    grants: deployedGrants(),
  });
  server.addToken("admin", { user: "admin", groups: ["system:masters"] });
  const traffic = Traffic.on(clock);
  traffic.serves(server);
  const transport = (token = "gateway"): Transport =>
    traffic.counted(kubeConfigTransport(kubeConfig(server, token)));
  let seed = 2;
  const connect = (token: string, more: Partial<KubeClientOptions> = {}): KubeClient => {
    seed += 1;
    return new KubeClient({
      transport: transport(token),
      clock,
      random: seededRandom(seed),
      ...more,
    });
  };
  return {
    server,
    clock,
    client: (more) => connect("gateway", more),
    transport,
    admin: connect("admin"),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
    },
  };
}

export function kubeConfig(server: ApiServer, token: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    {
      name: "test",
      server: server.url,
      caData: Buffer.from(server.ca).toString("base64"),
      skipTLSVerify: false,
    },
    { name: "user", token },
  );
  return config;
}

/** A host's clock that is off. */
export function aheadBy(clock: Clock, ms: number): Clock {
  return {
    now: () => clock.now() + ms,
    schedule: (atMs, callback, options) => clock.schedule(atMs - ms, callback, options),
  };
}

/** So many turns of the event loop without anything under way, and what follows from the last answer has happened. */
const STILL_TURNS = 5;
/** Longest that the machine may take for what is under way, in real time, before the test is told what it waits for. */
const PATIENCE_MS = 20_000;

/** Lets virtual time pass in small steps, each once nothing is under way that takes real time. */
export class Driven {
  readonly #clock: VirtualClock;
  readonly #traffic: Traffic;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
    this.#traffic = Traffic.on(clock);
  }

  /** Counts the requests of a transport that the kit did not make. */
  watched(transport: Transport): Transport {
    return this.#traffic.counted(transport);
  }

  /** Until `done` holds, or for `forMs`. */
  async run(forMs: number, done: () => boolean = () => false, stepMs = 250): Promise<void> {
    for (let passed = 0; passed < forMs && !done(); passed += stepMs) {
      await this.#quiet();
      await this.#clock.advanceAsync(stepMs);
    }
    await this.#quiet();
  }

  /** A request that the server itself holds back by the clock is not waited for. */
  async #quiet(): Promise<void> {
    const begunAt = performance.now();
    for (let still = 0; still < STILL_TURNS; ) {
      await new Promise((resolve) => setImmediate(resolve));
      const { underWay } = this.#traffic;
      still = underWay === null ? still + 1 : 0;
      if (underWay !== null && performance.now() - begunAt > PATIENCE_MS)
        throw new Error(`still under way: ${underWay}`);
    }
  }
}
