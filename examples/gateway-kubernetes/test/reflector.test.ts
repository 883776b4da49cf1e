import { seededRandom, VirtualClock } from "slipway/testing";
import { describe, expect, it } from "vitest";
import { linesOf } from "../src/api/read-body.js";
import { listAll } from "../src/api/list-pages.js";
import { Reflector, type ReflectorSink } from "../src/api/reflector.js";
import { nameOf, resourceVersionOf, type Plain } from "../src/api/plain.js";
import { Driven, NAMESPACE, startCluster } from "./kit.js";

const SANDBOXES = `/apis/agents.x-k8s.io/v1beta1/namespaces/${NAMESPACE}/sandboxes`;

/** Keeps what a reflector says is there. */
class Seen implements ReflectorSink {
  objects = new Map<string, string>();
  lists = 0;
  #listed: Map<string, string> | null = null;

  listing(): void {
    this.#listed = new Map();
  }
  page(items: readonly Plain[]): void {
    for (const item of items) this.#listed?.set(nameOf(item), resourceVersionOf(item));
  }
  listed(): void {
    this.objects = this.#listed ?? this.objects;
    this.lists += 1;
  }
  changed(object: Plain): void {
    this.objects.set(nameOf(object), resourceVersionOf(object));
  }
  deleted(object: Plain): void {
    this.objects.delete(nameOf(object));
  }
}

function sandbox(name: string): Plain {
  const labels = { "slipway.dev/gateway": "gw", "slipway.dev/sandbox-id": name };
  return {
    apiVersion: "agents.x-k8s.io/v1beta1",
    kind: "Sandbox",
    metadata: { name, namespace: NAMESPACE, labels },
    spec: { podTemplate: { spec: {} } },
  };
}

async function followed(options: { readonly pageSize?: number } = {}) {
  const clock = new VirtualClock();
  const cluster = await startCluster({ clock });
  const driven = new Driven(clock);
  const seen = new Seen();
  const closing = new AbortController();
  const client = cluster.client({ transport: driven.watched(cluster.transport()) });
  const admin = cluster.client({ transport: driven.watched(cluster.transport("admin")) });
  const { signal } = closing;
  let made = 0;
  const put = async (): Promise<void> => {
    made += 1;
    await admin.create(SANDBOXES, sandbox(`s-${made}`), { signal });
  };
  const touch = async (name: string): Promise<void> => {
    await admin.patch(
      `${SANDBOXES}/${name}`,
      { metadata: { annotations: { at: String(clock.now()) } } },
      { signal },
    );
  };
  const reflector = new Reflector({
    client,
    clock,
    random: seededRandom(4),
    path: SANDBOXES,
    query: {},
    sink: seen,
    ...options,
  });
  const truth = async (): Promise<Record<string, string>> => {
    const list = await admin.get(SANDBOXES, { signal });
    return Object.fromEntries(
      (list["items"] as Plain[]).map((item) => [nameOf(item), resourceVersionOf(item)]),
    );
  };
  return {
    clock,
    cluster,
    driven,
    seen,
    admin,
    put,
    touch,
    truth,
    signal,
    start: () => reflector.run(signal),
    async [Symbol.asyncDispose]() {
      closing.abort(new Error("test over"));
      await cluster[Symbol.asyncDispose]();
    },
  };
}

describe("the reflector", () => {
  it("lists page by page, then follows without another list", async () => {
    await using it = await followed({ pageSize: 2 });
    for (let n = 0; n < 5; n += 1) await it.put();
    it.cluster.server.ledger.reset();
    void it.start();
    await it.driven.run(2000);
    expect(it.cluster.server.ledger.count("list", "sandboxes")).toBe(3);
    await it.put();
    await it.touch("s-2");
    await it.admin.delete(`${SANDBOXES}/s-1`, {}, { signal: it.signal });
    await it.driven.run(2000);
    expect(Object.fromEntries(it.seen.objects)).toEqual(await it.truth());
    expect(it.seen.lists).toBe(1);
  });

  it("resumes where it was when the watch is cut every second for two minutes, and lists no more", async () => {
    await using it = await followed();
    await it.put();
    void it.start();
    await it.driven.run(1000);
    it.cluster.server.cutWatchesAfterMs = 1000;
    it.cluster.server.cutWatches();
    it.cluster.server.ledger.reset();
    for (let second = 0; second < 120; second += 10) {
      await it.put();
      await it.touch("s-1");
      await it.driven.run(10_000);
    }
    it.cluster.server.cutWatchesAfterMs = 0;
    await it.driven.run(60_000);
    expect(Object.fromEntries(it.seen.objects)).toEqual(await it.truth());
    expect(it.seen.lists).toBe(1);
    expect(it.cluster.server.ledger.count("watch", "sandboxes")).toBeLessThan(120);
  });

  it("lists anew after 410, cleanly and ever more slowly while they storm", async () => {
    await using it = await followed();
    for (let n = 0; n < 5; n += 1) await it.put();
    void it.start();
    await it.driven.run(1000);
    it.cluster.server.compactOnWrite = true;
    it.cluster.server.cutWatchesAfterMs = 500;
    it.cluster.server.cutWatches();
    it.cluster.server.ledger.reset();
    for (let n = 0; n < 60; n += 1) {
      await it.touch("s-2");
      if (n % 7 === 0) await it.put();
      await it.driven.run(2000);
    }
    const lists = it.cluster.server.ledger.count("list", "sandboxes");
    expect(lists).toBeGreaterThan(1);
    expect(lists).toBeLessThan(60);
    await it.admin.delete(`${SANDBOXES}/s-3`, {}, { signal: it.signal });
    it.cluster.server.compactOnWrite = false;
    it.cluster.server.cutWatchesAfterMs = 0;
    await it.driven.run(90_000);
    expect(Object.fromEntries(it.seen.objects)).toEqual(await it.truth());
  });

  it("costs a server that is away for ten minutes little, and is current within a minute of its return", async () => {
    await using it = await followed();
    await it.put();
    void it.start();
    await it.driven.run(1000);
    await it.cluster.server.close();
    await it.driven.run(600_000);
    await it.cluster.server.listen();
    it.cluster.server.ledger.reset();
    const putting = it.put();
    await it.driven.run(60_000);
    await putting;
    await it.driven.run(5000);
    expect(Object.fromEntries(it.seen.objects)).toEqual(await it.truth());
    expect(it.cluster.server.ledger.requests).toBeLessThan(8);
  });

  it("comes back to a server that has too many watches when that says, and lists nothing for it", async () => {
    await using it = await followed();
    await it.put();
    void it.start();
    await it.driven.run(1000);
    const { server } = it.cluster;
    server.ledger.reset();
    const busy = server.faults.inject({
      fault: { kind: "status", code: 429, retryAfterSeconds: 45 },
      when: ({ verb }) => verb === "watch",
    });
    server.cutWatches();
    await it.driven.run(180_000);
    const watches = server.ledger.recent.filter(({ verb }) => verb === "watch").map(({ at }) => at);
    expect(watches.length).toBeGreaterThanOrEqual(2);
    for (const [index, at] of watches.slice(1).entries())
      expect(at - (watches[index] ?? 0)).toBeGreaterThanOrEqual(45_000);
    busy[Symbol.dispose]();
    await it.put();
    await it.driven.run(120_000);
    expect(Object.fromEntries(it.seen.objects)).toEqual(await it.truth());
    expect(it.seen.lists).toBe(1);
  });

  it("moves on with bookmarks, so that a quiet watch does not grow too old", async () => {
    await using it = await followed();
    await it.put();
    void it.start();
    await it.driven.run(1000);
    // Writes that this watch does not see make its version old; a bookmark makes it new again.
    for (let n = 0; n < 3; n += 1) {
      await it.admin.create(
        `/api/v1/namespaces/${NAMESPACE}/configmaps`,
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `c-${n}` } },
        { signal: it.signal },
      );
    }
    await it.driven.run(61_000);
    it.cluster.server.registry.store.compact(it.cluster.server.registry.store.revision);
    it.cluster.server.cutWatches();
    await it.put();
    await it.driven.run(10_000);
    expect(it.seen.lists).toBe(1);
    expect(Object.fromEntries(it.seen.objects)).toEqual(await it.truth());
  });
});

describe("a listing that grows too old half way", () => {
  it("is begun again in one piece, and what was seen before is void", async () => {
    await using it = await followed();
    for (let n = 0; n < 6; n += 1) await it.put();
    const { store } = it.cluster.server.registry;
    let names: string[] = [];
    let restarts = 0;
    const take = {
      restart: () => {
        names = [];
        restarts += 1;
      },
      page: (items: readonly Plain[]) => {
        names.push(...items.map(nameOf));
        if (restarts === 0) {
          store.compact(store.revision);
        }
      },
    };
    it.cluster.server.compactOnWrite = true;
    await it.touch("s-1");
    await listAll(it.admin, { path: SANDBOXES, query: {}, pageSize: 2 }, take, it.signal);
    expect(names.sort()).toEqual(["s-1", "s-2", "s-3", "s-4", "s-5", "s-6"]);
  });
});

describe("lines of a stream", () => {
  it("come whole whatever the pieces are, and half a line at the end is dropped", async () => {
    const text = `{"a":"ü"}\n\n{"b":"€"}\n{"c":`;
    const bytes = Buffer.from(text);
    for (const size of [1, 2, 3, 7, 100]) {
      const pieces = async function* (): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < bytes.length; at += size)
          yield await Promise.resolve(bytes.subarray(at, at + size));
      };
      const lines: string[] = [];
      for await (const line of linesOf(pieces())) lines.push(line);
      expect(lines).toEqual(['{"a":"ü"}', '{"b":"€"}']);
    }
  });
});
