import { supervisorBundle } from "@slipway-examples/gateway-core";
import { eventually, GatewayProcess, TcpProxy } from "@slipway-examples/gateway-core/testing";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "slipway";
import { Authority } from "./apiserver/certificates.js";
import type { KubeObject } from "./apiserver/index.js";
import { textOf } from "./apiserver/object.js";
import { MountingRuntime } from "./cluster/index.js";
import { tempDirs } from "./gateway-kit.js";
import { NAMESPACE, SETTINGS, startNode } from "./kit.js";
import { Https } from "./protocol/https.js";

const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const NO_SIGNAL = new AbortController().signal;

/** What the tests read of a sandbox in the gateway's own API. */
export interface View {
  readonly id: string;
  readonly phase: string;
  readonly reason: string | null;
  readonly message: string | null;
  readonly attempt: number;
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
    readonly cause?: { readonly reason: string; readonly message: string };
  }[];
}

/**
 * The programs as they ship: the gateway as a process that serves HTTPS, with its records in the cluster, and in every
 * pod the bundled supervisor as a process that verifies it by the authority that the pod is given. Supervisors reach the
 * gateway through a proxy that can be closed. On the system's clock.
 */
export async function startProcesses(args: readonly string[] = []) {
  const dir = await tempDirs.make();
  const runtime: MountingRuntime = new MountingRuntime({
    handle: () => api.node.handle,
    root: join(dir, "configmaps"),
    programs: { node: process.execPath },
  });
  const api = await startNode({
    clock: systemClock,
    release: "0.5.6",
    runtime,
    volumesRoot: join(dir, "claims"),
  });
  const authority = new Authority();
  const { cert, key } = authority.issue({ commonName: "slipway-gateway", hosts: ["localhost", "127.0.0.1"] });
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const configMap = (name: string, data: Record<string, string>): Promise<unknown> =>
    api.admin.create(
      `/api/v1/namespaces/${NAMESPACE}/configmaps`,
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data },
      { signal: NO_SIGNAL },
    );
  await configMap(SETTINGS.supervisorConfigMap, {
    "supervisor.mjs": await readFile(supervisorBundle, "utf8"),
  });
  await configMap(SETTINGS.caConfigMap ?? "", { "ca.crt": authority.cert });
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "test",
        cluster: {
          server: api.server.url,
          "certificate-authority-data": Buffer.from(api.server.ca).toString("base64"),
        },
      },
    ],
    users: [{ name: "gateway", user: { token: "gateway" } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "gateway" } }],
    "current-context": "test",
  };
  const proxy = await TcpProxy.start();
  await mkdir(join(dir, "gateway"));
  const gateway = new GatewayProcess({
    cli: CLI,
    dataDir: join(dir, "gateway"),
    args: ["--supervisor-url", `https://localhost:${proxy.port}`, "--stall-ms", "none", ...args],
    env: {
      KUBECONFIG: await file("kubeconfig", JSON.stringify(kubeconfig)),
      SLIPWAY_NAMESPACE: NAMESPACE,
      SLIPWAY_GATEWAY_NAME: SETTINGS.gateway,
      SLIPWAY_STORE: "cluster",
      SLIPWAY_TLS_CERT: await file("tls.crt", cert),
      SLIPWAY_TLS_KEY: await file("tls.key", key),
      SLIPWAY_CA_CONFIGMAP: SETTINGS.caConfigMap ?? "",
      SLIPWAY_SUPERVISOR_CONFIGMAP: SETTINGS.supervisorConfigMap,
      SLIPWAY_GRACE_SECONDS: "2",
    },
  });
  let http: Https | null = null;
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    if (http === null) throw new Error("no gateway runs");
    const reply = await http.send(method, path, body);
    if (reply.code >= 400) throw new Error(`${method} ${path}: ${reply.code} ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const it = {
    ...api,
    runtime,
    authority,
    proxy,
    /** Starts the gateway's process, again on its port of before. */
    async begin(): Promise<void> {
      const url = await gateway.start();
      http = new Https({ url, ca: authority.cert });
      proxy.direct([Number(new URL(url).port)]);
    },
    async kill(): Promise<void> {
      await gateway.end("SIGKILL");
      http?.[Symbol.dispose]();
      http = null;
    },
    create: (name: string, command: readonly string[], policy: object = { version: 1 }) =>
      ask("POST", "/v1/sandboxes", {
        name,
        driver: "kubernetes",
        image: { name: "docker.io/library/node:20" },
        command,
        policy,
      }) as Promise<View>,
    get: (id: string) => ask("GET", `/v1/sandboxes/${id}`) as Promise<View>,
    update: (id: string, policy: object) => ask("PUT", `/v1/sandboxes/${id}/configuration`, { policy }),
    start: (id: string) => ask("POST", `/v1/sandboxes/${id}/start`),
    stop: (id: string) => ask("POST", `/v1/sandboxes/${id}/stop`),
    /** Waits until the gateway has listed all sandboxes so many times more. */
    async sweeps(count: number): Promise<void> {
      const { ledger } = api.server;
      const from = ledger.count("list", "sandboxes");
      const swept = (): Promise<boolean> =>
        Promise.resolve(ledger.count("list", "sandboxes") >= from + count);
      await eventually("further sweeps", swept, 90_000);
    },
    async until(id: string, seen: (view: View) => boolean): Promise<View> {
      let last: View | undefined;
      const look = async (): Promise<View | false> => {
        last = await it.get(id);
        return seen(last) && last;
      };
      return eventually(`what ${id} should become`, look, 90_000).catch(async (error: unknown) => {
        const log = await readFile(gateway.logPath, "utf8").catch(() => "");
        throw new Error(`it is ${JSON.stringify(last)}\n${log.slice(-2000)}\n${it.podLog()}`, {
          cause: error,
        });
      });
    },
    pod: (): KubeObject | null => api.node.handle.list("pods", NAMESPACE)[0] ?? null,
    /** What the latest pod's container wrote. */
    podLog: (): string => [...runtime.logs.values()].at(-1) ?? "",
    claim: (name: string) => api.node.handle.find("persistentvolumeclaims", NAMESPACE, `workspace-${name}`),
    /** What the record says in the cluster, whoever is away. */
    record: (name: string) =>
      api.node.handle.find("sandboxrecords.gateway.slipway.dev", NAMESPACE, name) as unknown as {
        readonly view: { readonly phase: string; readonly reason: string };
      } | null,
    /** Every condition of this type that records were written with from now on, a status and a cause a line. */
    conditionsWritten(type: string): readonly string[] {
      const written: string[] = [];
      api.node.handle.registry.store.subscribe(({ resource, object }) => {
        if (resource !== "sandboxrecords.gateway.slipway.dev") return;
        const { conditions = [] } = JSON.parse(textOf(object.spec?.["value"])) as Partial<View>;
        for (const each of conditions) {
          if (each.type !== type) continue;
          const line = `${each.status} ${each.reason} ${each.cause?.reason ?? ""} ${each.message}`;
          if (written.at(-1) !== line) written.push(line);
        }
      });
      return written;
    },
    workspace: (name: string): string => api.node.volumes.folder(it.claim(name)),
    inWorkspace: (name: string, path: string): Promise<string> =>
      readFile(join(it.workspace(name), path), "utf8").catch(() => ""),
    /** Keeps pods from starting their containers: no claim is bound. */
    holdPods(): void {
      api.node.volumes.holdsBack = () => true;
    },
    /** Lets them start after all. */
    releasePods(name: string): void {
      api.node.volumes.holdsBack = () => false;
      api.node.handle.registry.force(
        api.node.handle.target("persistentvolumeclaims", NAMESPACE, `workspace-${name}`),
        (claim) => {
          claim.metadata.labels = { ...claim.metadata.labels, released: "yes" };
        },
      );
    },
    async [Symbol.asyncDispose]() {
      await gateway.end("SIGKILL");
      http?.[Symbol.dispose]();
      runtime[Symbol.dispose]();
      await proxy.close();
      await api[Symbol.asyncDispose]();
    },
  };
  return it;
}
