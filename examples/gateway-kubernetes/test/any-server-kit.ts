import { seededRandom } from "slipway/testing";
import { systemClock } from "slipway";
import { eventually } from "@slipway-examples/gateway-core/testing";
import { readFileSync } from "node:fs";
import { KubeConfig } from "@kubernetes/client-node";
import { KubeClient } from "../src/api/kube-client.js";
import { onAbort } from "../src/api/on-abort.js";
import { memberOf, type Plain } from "../src/api/plain.js";
import { textOf } from "../src/api/read-body.js";
import { kubeConfigTransport, type Transport } from "../src/api/transport.js";
import { KubernetesDriver } from "../src/driver/kubernetes-driver.js";
import { wantsRun, type SandboxVersion } from "../src/resource/sandbox-api.js";
import type { SandboxSettings } from "../src/resource/sandbox-settings.js";
import { SETTINGS, startCluster, type Api } from "./kit.js";
import { freshName } from "./protocol/target.js";

const { env } = process;

/** The URL of a server that runs already; absent: the project's own is used for everything. */
export const EXTERNAL = env["SLIPWAY_APISERVER_URL"];

/** For the titles of tests: what they run against. */
export const AGAINST = EXTERNAL === undefined ? "the project's own server" : EXTERNAL;

function externalConfig(server: string): KubeConfig {
  const file = (name: string): string => readFileSync(env[name] ?? "", "utf8");
  const base64 = (name: string): string => Buffer.from(file(name)).toString("base64");
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: "external", server, caData: base64("SLIPWAY_APISERVER_CA"), skipTLSVerify: false },
    {
      name: "admin",
      certData: base64("SLIPWAY_APISERVER_CERT"),
      keyData: base64("SLIPWAY_APISERVER_KEY"),
    },
  );
  return config;
}

/** What is done to requests of the clients under test: look at them, change them, or break them. */
interface Tampering {
  /** Called with every request before it is sent; may give another one. */
  before?: (
    request: Parameters<Transport>[0],
  ) => Parameters<Transport>[0] | Promise<Parameters<Transport>[0]>;
}

/**
 * A driver whose custom resources are on the server under test. Where that has nothing else (apiextensions-apiserver),
 * pods and Secrets are on the project's own server, and `reconcile` stands for agent-sandbox's controller, the
 * kubelet and the garbage collector: it makes and removes the pod of a resource by what that says.
 */
export async function startOnAnyServer() {
  // The owners of what is there are on the other server: nothing is to be collected for want of them.
  const pods = await startCluster(EXTERNAL === undefined ? {} : { controllerDelayMs: 3_600_000 });
  const custom = EXTERNAL === undefined ? null : kubeConfigTransport(externalConfig(EXTERNAL));
  const tampering: Tampering = {};
  const sent: { readonly method: string; readonly path: string; readonly status: number }[] = [];
  const split =
    (own: Transport, foreign: Transport | null): Transport =>
    (request) =>
      request.path.startsWith("/api/v1/") || foreign === null ? own(request) : foreign(request);
  const plain = split(pods.transport("admin"), custom);
  const streams = new Set<AbortController>();
  const watched: Transport = async (given) => {
    const request = (await tampering.before?.(given)) ?? given;
    const breaking = new AbortController();
    onAbort(given.signal, () => breaking.abort(given.signal.reason));
    if (request.path.includes("watch=true")) streams.add(breaking);
    const reply = await plain({ ...request, signal: breaking.signal });
    sent.push({ method: request.method, path: request.path, status: reply.status });
    return reply;
  };
  // A namespace of its own for each, so that runs against one server do not meet.
  const namespace = freshName("any");
  const settings: SandboxSettings = { ...SETTINGS, namespace };
  pods.server.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  let seed = 40;
  const client = (transport: Transport): KubeClient =>
    new KubeClient({ transport, clock: systemClock, random: seededRandom((seed += 1)) });
  const admin = client(plain);
  const { signal } = new AbortController();
  const path = (version: SandboxVersion, name = ""): string =>
    `/apis/agents.x-k8s.io/${version}/namespaces/${namespace}/sandboxes${name === "" ? "" : `/${name}`}`;
  const it = {
    admin,
    tampering,
    sent,
    namespace,
    settings,
    signal,
    path,
    client: () => client(watched),
    driver: (more: { version?: SandboxVersion; pageSize?: number } = {}) =>
      new KubernetesDriver({
        client: client(watched),
        clock: systemClock,
        settings,
        random: seededRandom(9),
        ...more,
      }),
    sandbox: (name: string, version: SandboxVersion = "v1beta1") =>
      admin.get(path(version, name), { signal }).catch(() => null),
    /** What `kubectl get` asks for. */
    async table(of: string): Promise<{ readonly rows: readonly { readonly cells: readonly unknown[] }[] }> {
      const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
      const reply = await plain({ method: "GET", path: of, headers, signal });
      return JSON.parse(await textOf(reply.body)) as { rows: { cells: unknown[] }[] };
    },
    /** Breaks the connection of every watch. */
    breakStreams(): void {
      for (const stream of streams) stream.abort(new Error("the connection broke"));
      streams.clear();
    },
    /** Takes all history away, so that whoever goes on from an old version is told 410. */
    async compact(): Promise<void> {
      if (EXTERNAL === undefined) pods.server.compact();
      else await compactEtcd(env["SLIPWAY_APISERVER_ETCD"] ?? "");
    },
    /** Makes the pods be what the resource says, until the work is done. */
    async reconcile<T>(name: string, version: SandboxVersion, work: Promise<T>): Promise<T> {
      let over = false;
      const settled = work.finally(() => (over = true));
      settled.catch(() => undefined);
      await eventually(
        `the work on ${name}`,
        async () => {
          const sandbox = await it.sandbox(name, version);
          await reconcilePod(pods, namespace, sandbox, version);
          if (EXTERNAL !== undefined && sandbox !== null && isCollected(sandbox)) {
            const metadata = { finalizers: null };
            await admin.patch(path(version, name), { metadata }, { signal }).catch(() => undefined);
          }
          return over;
        },
        60_000,
      );
      return settled;
    },
    [Symbol.asyncDispose]: () => pods[Symbol.asyncDispose](),
  };
  return it;
}

/** A foreground deletion waits for the garbage collector, which a server of custom resources alone does not have. */
function isCollected(sandbox: Plain): boolean {
  const finalizers = memberOf(sandbox, "metadata", "finalizers");
  return Array.isArray(finalizers) && finalizers.includes("foregroundDeletion");
}

async function compactEtcd(url: string): Promise<void> {
  const ask = async (path: string, body: object): Promise<unknown> => {
    const reply = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`etcd answered ${reply.status}: ${await reply.text()}`);
    return reply.json();
  };
  const { header } = (await ask("/v3/maintenance/status", {})) as { header: { revision: string } };
  await ask("/v3/kv/compaction", { revision: header.revision });
}

type Found = Awaited<ReturnType<KubeClient["get"]>> | null;

async function reconcilePod(
  pods: Api,
  namespace: string,
  sandbox: Found,
  version: SandboxVersion,
): Promise<void> {
  const { signal } = new AbortController();
  const place = `/api/v1/namespaces/${namespace}/pods`;
  const { metadata, spec } = (sandbox ?? {}) as {
    metadata?: { name: string; uid: string };
    spec?: { podTemplate: { metadata: object; spec: object } };
  };
  const found = await pods.admin.get(place, { signal });
  const there = found["items"] as { metadata: { name: string } }[];
  const isLeaving = sandbox === null || isCollected(sandbox) || !wantsRun(version, sandbox);
  if (isLeaving || metadata === undefined || spec === undefined) {
    for (const pod of there)
      await pods.admin.delete(`${place}/${pod.metadata.name}`, { gracePeriodSeconds: 0 }, { signal });
    return;
  }
  if (there.length > 0) return;
  const owner = {
    apiVersion: `agents.x-k8s.io/${version}`,
    kind: "Sandbox",
    name: metadata.name,
    uid: metadata.uid,
  };
  await pods.admin.create(
    place,
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        ...spec.podTemplate.metadata,
        name: metadata.name,
        ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
      },
      spec: { ...spec.podTemplate.spec, nodeName: "node-1" },
    },
    { signal },
  );
  const status = {
    phase: "Running",
    conditions: [{ type: "Ready", status: "True" }],
    containerStatuses: [
      {
        name: "sandbox",
        ready: true,
        restartCount: 0,
        state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
      },
    ],
  };
  await pods.admin.patch(`${place}/${metadata.name}/status`, { status }, { signal });
}
