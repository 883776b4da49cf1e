import { CustomObjectsApi, KubeConfig, Watch } from "@kubernetes/client-node";
import { systemClock } from "slipway";
import { seededRandom } from "slipway/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ApiServer } from "../apiserver/index.js";
import sandboxCrd from "../cluster/sandbox-crd.json" with { type: "json" };
import { convertSandbox } from "../cluster/sandbox-conversion.js";
import { sandbox } from "./target.js";

const SANDBOXES = { group: "agents.x-k8s.io", version: "v1beta1", namespace: "default", plural: "sandboxes" };
const TOKEN = "a-token-of-the-gateway";

let server: ApiServer;
let config: KubeConfig;
beforeAll(async () => {
  server = await ApiServer.start({
    clock: systemClock,
    random: seededRandom(1),
    objects: [sandboxCrd],
    converters: { [sandboxCrd.metadata.name]: convertSandbox },
  });
  const rules = [
    { apiGroups: ["agents.x-k8s.io"], resources: ["sandboxes"], verbs: ["get", "list", "watch", "create"] },
  ];
  server.addToken(TOKEN, {
    user: "system:serviceaccount:default:gateway",
    grants: [{ namespace: "default", rules }],
  });
  config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: "test", server: server.url, caData: Buffer.from(server.ca).toString("base64") }],
    users: [{ name: "gateway", token: TOKEN }],
    contexts: [{ name: "test", cluster: "test", user: "gateway" }],
    currentContext: "test",
  });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("@kubernetes/client-node", () => {
  it("creates, reads, lists and is refused what its rights do not cover", async () => {
    const api = config.makeApiClient(CustomObjectsApi);
    await api.createNamespacedCustomObject({ ...SANDBOXES, body: sandbox("library") });
    const read: unknown = await api.getNamespacedCustomObject({ ...SANDBOXES, name: "library" });
    expect(read).toMatchObject({ metadata: { name: "library", generation: 1 } });
    const listed: unknown = await api.listNamespacedCustomObject({ ...SANDBOXES, limit: 1 });
    expect(listed).toMatchObject({ kind: "SandboxList", items: [{ metadata: { name: "library" } }] });
    const refused = api.deleteNamespacedCustomObject({ ...SANDBOXES, name: "library" });
    await expect(refused).rejects.toMatchObject({ code: 403 });
  });

  it("watches over verified TLS", async () => {
    const seen: unknown[] = [];
    let end: (() => void) | undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const path = "/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes";
    const abort = await new Watch(config).watch(
      path,
      {},
      (type, object: { metadata: { name: string } }) => {
        seen.push([type, object.metadata.name]);
        end?.();
      },
      () => end?.(),
    );
    await ended;
    abort.abort();
    expect(seen).toEqual([["ADDED", "library"]]);
  });
});
