/**
 * The Kubernetes driver and the store of custom resources over 10 000 sandboxes: the first listing, a steady watch, and
 * a relist, in time, requests and memory; the store of two gateways as well. The API server is the project's test server in a process of its own, so the
 * time is the client's and that server's together, and the memory is the client's alone.
 *
 *   npm run build && npm run build:examples && node --expose-gc bench/kubernetes.mjs [count, 1500 or more]
 */
import { KubeConfig } from "@kubernetes/client-node";
import { build } from "esbuild";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "slipway";
import { KubeClient } from "../examples/gateway-kubernetes/dist/api/kube-client.js";
import { kubeConfigTransport } from "../examples/gateway-kubernetes/dist/api/transport.js";
import { KubernetesDriver } from "../examples/gateway-kubernetes/dist/driver/kubernetes-driver.js";
import { ResourceStore } from "../examples/gateway-kubernetes/dist/store/resource-store.js";

const COUNT = Number(process.argv[2] ?? 10_000);
const example = (path) => fileURLToPath(new URL(`../examples/gateway-kubernetes/${path}`, import.meta.url));
const never = new AbortController().signal;

function heapMb() {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}

async function startServer(dir) {
  const outfile = join(dir, "server.mjs");
  const banner = {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  };
  await build({
    entryPoints: [example("test/bench-server.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    banner,
    logLevel: "error",
  });
  const child = fork(outfile, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ask = async (order) => {
    child.send(order);
    const [answer] = await once(child, "message");
    return answer;
  };
  const manifests = ["sandboxes", "sandboxrecords", "supervisorsessions"].map((name) =>
    example(`deploy/${name}.crd.yaml`),
  );
  const { url, ca } = await ask({ do: "start", count: COUNT, manifests });
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: "bench", server: url, caData: Buffer.from(ca).toString("base64"), skipTLSVerify: false },
    { name: "admin", token: "admin" },
  );
  return { child, ask, config };
}

const rows = [];
function row(what, ms, requests, mb) {
  rows.push({
    what,
    ms: Math.round(ms),
    requests,
    "heap MB": Number(mb.toFixed(1)),
    rss: `${Math.round(process.memoryUsage().rss / 1e6)} MB`,
  });
}

/** Times work; the heap is what it left behind. */
async function measure(server, what, work) {
  await server.ask({ do: "counts" });
  const before = heapMb();
  const begun = performance.now();
  await work();
  const ms = performance.now() - begun;
  const { requests } = await server.ask({ do: "counts" });
  row(what, ms, requests, heapMb() - before);
}

const dir = await mkdtemp(join(tmpdir(), "slipway-bench-"));
const server = await startServer(dir);
try {
  const client = new KubeClient({ transport: kubeConfigTransport(server.config), clock: systemClock });
  const settings = { namespace: "slipway", gateway: "bench", supervisorConfigMap: "s", graceSeconds: 5 };
  const driver = new KubernetesDriver({ client, clock: systemClock, settings });

  const sweep = async () => {
    let seen = 0;
    for (let cursor = null; ; ) {
      const page = await driver.list(cursor, { signal: never });
      seen += page.items.length;
      cursor = page.cursor;
      if (cursor === null) break;
    }
    if (seen !== COUNT) throw new Error(`saw ${seen} of ${COUNT}`);
  };
  await measure(server, "sweep: list all, with facts", sweep);
  await measure(server, "sweep again", sweep);

  const closing = new AbortController();
  let news = 0;
  let wake = () => {};
  const waitFor = (count) =>
    new Promise((resolve) => {
      const look = () => news >= count && resolve();
      wake = look;
      look();
    });
  // The first change is told once the watch is open, which says when that is.
  await measure(server, "watch: initial lists until open", async () => {
    void (async () => {
      for await (const event of driver.watch({ signal: closing.signal })) {
        void event;
        news += 1;
        wake();
      }
    })();
    while (news === 0) {
      await server.ask({ do: "touch", count: 1 });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  news = 0;
  await measure(server, `watch: ${COUNT} changes`, async () => {
    await server.ask({ do: "touch", count: COUNT });
    await waitFor(COUNT);
  });
  news = 0;
  await measure(server, "relist after 410, one object changed", async () => {
    await server.ask({ do: "touch", count: 1 });
    await waitFor(1);
    news = 0;
    await server.ask({ do: "expire", count: 1 });
    await waitFor(1);
  });
  closing.abort();

  let store;
  await measure(server, "record store: open and first page of 200", async () => {
    store = new ResourceStore({ client, clock: systemClock, namespace: "slipway", gateway: "bench" });
    await store.list({ limit: 200 });
  });
  await measure(server, "record store: all pages of 200", async () => {
    for (let after; ; ) {
      const page = await store.list({ after, limit: 200 });
      if (page.next === null) break;
      after = page.next;
    }
  });
  await measure(server, "record store: what is due, 100 times", async () => {
    const claim = { now: COUNT, limit: 50, owner: "bench", until: COUNT + 1 };
    for (let turn = 0; turn < 100; turn += 1) await store.claimDue(claim);
  });
  await measure(server, "record store: 1000 swaps, one after another", async () => {
    for (let index = 0; index < 1000; index += 1) {
      const id = `id-box-${String(index).padStart(5, "0")}`;
      if (!(await store.compareAndSwap(id, 1, { dueAt: null, value: { filler: "y".repeat(2000) } })))
        throw new Error(id);
    }
  });
  // As two gateways do it: each takes up what it is told is due, and reads again what somebody else was faster with.
  const second = new ResourceStore({ client, clock: systemClock, namespace: "slipway", gateway: "bench" });
  await second.list({ limit: 1 });
  const DUE = Math.min(400, COUNT - 1002);
  const nameOf = (index) => `id-box-${String(index).padStart(5, "0")}`;
  const next = { dueAt: null, value: { filler: "z".repeat(2000) } };
  await store.compareAndSwap(nameOf(COUNT - 1), 1, next);
  await second.compareAndSwap(nameOf(COUNT - 2), 1, next);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await measure(server, `record stores: two take up ${DUE} that are due`, async () => {
    const takeUp = async (by) => {
      const due = await by.claimDue({ now: 999 + DUE, limit: DUE, owner: "bench", until: 1000 + DUE });
      for (const { id, version } of due) if (!(await by.compareAndSwap(id, version, next))) await by.get(id);
    };
    await Promise.all([takeUp(store), takeUp(second)]);
  });
  await second.close();
  await store.close();
  console.log(`${COUNT} sandboxes, Node ${process.versions.node}`);
  console.table(rows);
} finally {
  const ended = once(server.child, "exit");
  server.child.kill();
  await ended;
  await rm(dir, { recursive: true, force: true });
}
