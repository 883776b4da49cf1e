/**
 * The other side of bench/kubernetes.mjs, in a process of its own: the test API server with many objects. Speaks over
 * the channel to its parent: a message names what is to be done, the answer says that it is, with what was counted.
 */
import { systemClock } from "slipway";
import { seededRandom } from "slipway/testing";
import { readFileSync } from "node:fs";
import { loadAll } from "js-yaml";
import { ApiServer } from "./apiserver/index.js";

interface Order {
  readonly do: "start" | "touch" | "expire" | "counts";
  readonly count?: number;
  readonly manifests?: readonly string[];
}

const NAMESPACE = "slipway";
let server: ApiServer | null = null;
let touched = 0;

process.on("message", (order: Order) => {
  carryOut(order).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});

async function carryOut({ do: what, count = 0, manifests = [] }: Order): Promise<object> {
  if (what === "start") {
    const objects = manifests.flatMap((file) => loadAll(readFileSync(file, "utf8")) as object[]);
    server = await ApiServer.start({
      clock: systemClock,
      random: seededRandom(1),
      namespaces: [NAMESPACE],
      objects,
      historyLimit: 50_000,
    });
    server.addToken("admin", { user: "admin", groups: ["system:masters"] });
    for (let index = 0; index < count; index += 1) seed(server, index);
    return { url: server.url, ca: server.ca };
  }
  if (server === null) throw new Error("not started");
  if (what === "touch") for (let index = 0; index < count; index += 1) touch(server, index);
  if (what === "expire") {
    // Changes that nobody hears of, because the streams are cut and what they would go on from is gone.
    const { store } = server.registry;
    server.cutWatches();
    for (let index = 0; index < count; index += 1) touch(server, index);
    store.compact(store.revision);
  }
  const { requests, totals } = server.ledger;
  if (what === "counts") server.ledger.reset();
  return { requests, totals };
}

function seed(on: ApiServer, index: number): void {
  const name = `box-${String(index).padStart(5, "0")}`;
  const labels = { "slipway.dev/gateway": "bench", "slipway.dev/sandbox-id": `id-${name}` };
  const annotations = { "slipway.dev/instance-id": `i-${name}`, "slipway.dev/start": "1.1" };
  const spec = {
    containers: [{ name: "sandbox", image: "node:20", command: ["node", "/opt/slipway/supervisor.mjs"] }],
  };
  on.apply({
    apiVersion: "agents.x-k8s.io/v1beta1",
    kind: "Sandbox",
    metadata: { name, namespace: NAMESPACE, labels, annotations },
    spec: { operatingMode: "Running", podTemplate: { metadata: { labels, annotations }, spec } },
  });
  on.apply({
    apiVersion: "gateway.slipway.dev/v1alpha1",
    kind: "SandboxRecord",
    metadata: { name, namespace: NAMESPACE, labels },
    spec: {
      id: `id-${name}`,
      version: 1,
      write: "w",
      dueAt: index,
      value: JSON.stringify({ filler: "x".repeat(2000) }),
    },
  });
}

/** A change of the kind that a controller makes all day: a word in an annotation. */
function touch(on: ApiServer, index: number): void {
  const { registry } = on;
  const resource = registry.find("agents.x-k8s.io", "v1beta1", "sandboxes");
  if (resource === undefined) throw new Error("no such resource");
  const name = `box-${String(index).padStart(5, "0")}`;
  touched += 1;
  registry.patch(
    { resource, namespace: NAMESPACE, name },
    "application/merge-patch+json",
    { metadata: { annotations: { at: String(touched) } } },
    {},
  );
}
