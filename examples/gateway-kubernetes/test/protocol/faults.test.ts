import { VirtualClock } from "slipway/testing";
import { describe, expect, it } from "vitest";
import { at } from "../apiserver/object.js";
import { Https } from "./https.js";
import { IS_OWN, NEEDS_OWN, useTarget, sandbox } from "./target.js";

const clock = new VirtualClock();
const target = useTarget(clock);

/** Has the server taken up as many requests as this? Virtual time must not pass before. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resume) => setImmediate(resume));
}

describe.skipIf(!IS_OWN)(`an injected fault${NEEDS_OWN}`, () => {
  it.each([
    [429, "TooManyRequests", 7],
    [503, "ServiceUnavailable", undefined],
    [500, "InternalError", undefined],
    [504, "Timeout", 1],
  ])("%i is a Status, with Retry-After where it is given", async (code, reason, retryAfterSeconds) => {
    const { api, own } = target.current;
    const { sandboxes } = await target.current.room();
    const more = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    own.faults.inject({
      fault: { kind: "status", code, ...more },
      times: 2,
      when: (request) => request.verb === "list",
    });
    for (let time = 0; time < 2; time += 1) {
      const reply = await api.get(sandboxes);
      expect([reply.code, reply.body.reason, at(reply.body, "details.retryAfterSeconds")]).toEqual([
        code,
        reason,
        retryAfterSeconds,
      ]);
      expect(reply.headers["retry-after"]).toBe(retryAfterSeconds?.toString());
    }
    expect((await api.get(sandboxes)).code).toBe(200);
  });

  it("that cuts before the work leaves nothing done, one that cuts after it the work without an answer", async () => {
    const { api, own } = target.current;
    const { sandboxes } = await target.current.room();
    own.faults.inject({ fault: { kind: "cut", when: "before" }, times: 1 });
    await expect(api.post(sandboxes, sandbox("a"))).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect((await api.get(`${sandboxes}/a`)).code).toBe(404);
    own.faults.inject({ fault: { kind: "cut", when: "after" }, times: 1 });
    await expect(api.post(sandboxes, sandbox("a"))).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect((await api.get(`${sandboxes}/a`)).code).toBe(200);
  });

  it("of delay holds a request back for its time on the clock", async () => {
    const { api, own } = target.current;
    const { sandboxes } = await target.current.room();
    own.faults.inject({ fault: { kind: "delay", ms: 30_000 }, times: 1 });
    let code = 0;
    const reply = api.get(sandboxes).then((answer) => (code = answer.code));
    await until(() => own.faults.waiting > 0);
    clock.advance(29_999);
    await new Promise((resume) => setImmediate(resume));
    expect(code).toBe(0);
    clock.advance(1);
    expect(await reply).toBe(200);
  });

  it("that hangs is never answered, and others are", async () => {
    const { api, own, endpoint } = target.current;
    const { sandboxes } = await target.current.room();
    const client = new Https(endpoint);
    own.faults.inject({ fault: { kind: "hang" }, times: 1 });
    const before = own.ledger.requests;
    const stuck = client.get(sandboxes);
    await until(() => own.ledger.requests > before);
    expect((await api.get(sandboxes)).code).toBe(200);
    client[Symbol.dispose]();
    await expect(stuck).rejects.toThrow(/socket hang up|ECONNRESET/);
  });

  it("can be for one user or one verb, by chance, and be called off", async () => {
    const { api, own } = target.current;
    const { sandboxes } = await target.current.room();
    const forOther = own.faults.inject({
      fault: { kind: "status", code: 503 },
      when: ({ user }) => user === "other",
    });
    expect((await api.get(sandboxes)).code).toBe(200);
    forOther[Symbol.dispose]();
    const byChance = own.faults.inject({ fault: { kind: "status", code: 503 }, probability: 0.5 });
    const codes: number[] = [];
    for (let time = 0; time < 40; time += 1) codes.push((await api.get(sandboxes)).code);
    byChance[Symbol.dispose]();
    expect(new Set(codes)).toEqual(new Set([200, 503]));
    expect((await api.get(sandboxes)).code).toBe(200);
  });
});

describe.skipIf(!IS_OWN)(`an API server${NEEDS_OWN}`, () => {
  it("that goes away refuses connections, breaks the open ones, and is back with everything", async () => {
    const { api, own, endpoint } = target.current;
    const { make, sandboxes } = await target.current.room();
    const made = await make("a");
    using watch = await api.watch(`${sandboxes}?watch=1`);
    expect((await watch.next())?.type).toBe("ADDED");
    const { url } = own;
    await own.close();
    await expect(watch.next()).rejects.toThrow(/aborted|ECONNRESET/);
    using late = new Https(endpoint);
    await expect(late.get(sandboxes)).rejects.toThrow(/ECONNREFUSED/);
    await own.listen();
    expect(own.url).toBe(url);
    expect((await api.get(`${sandboxes}/a`)).body).toEqual(made);
    const from = made.metadata.resourceVersion;
    using resumed = await api.watch(`${sandboxes}?watch=1&resourceVersion=${from}`);
    await make("b");
    expect((await resumed.next())?.object.metadata.name).toBe("b");
  });

  it("whose history is compacted on every write answers 410 to whoever comes back", async () => {
    const { api, own } = target.current;
    const { make, sandboxes } = await target.current.room();
    own.compactOnWrite = true;
    const made = await make("a");
    await make("b");
    own.compactOnWrite = false;
    using watch = await api.watch(`${sandboxes}?watch=1&resourceVersion=${made.metadata.resourceVersion}`);
    expect(await watch.next()).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
  });

  it("can break every watch after a time", async () => {
    const { api, own } = target.current;
    const { make, sandboxes } = await target.current.room();
    await make("a");
    own.cutWatchesAfterMs = 1_000;
    using watch = await api.watch(`${sandboxes}?watch=1`);
    own.cutWatchesAfterMs = 0;
    expect((await watch.next())?.type).toBe("ADDED");
    clock.advance(1_000);
    await expect(watch.next()).rejects.toThrow(/aborted|ECONNRESET/);
    await until(() => own.openWatches === 0);
  });

  it("sends bookmarks by its clock and ends a watch in its time", async () => {
    const { api } = target.current;
    const { sandboxes } = await target.current.room();
    using watch = await api.watch(`${sandboxes}?watch=1&allowWatchBookmarks=true&timeoutSeconds=90`);
    clock.advance(60_000);
    expect((await watch.next())?.type).toBe("BOOKMARK");
    clock.advance(30_000);
    expect(await watch.next()).toBeNull();
  });

  it("whose clock is off stamps objects by its own", async () => {
    const { own } = target.current;
    const { make } = await target.current.room();
    const created = async (skew: number, name: string): Promise<number> => {
      own.clockSkewMs = skew;
      return Date.parse((await make(name)).metadata.creationTimestamp);
    };
    const second = Math.floor(clock.now() / 1000) * 1000;
    expect(await created(3_600_000, "ahead")).toBe(second + 3_600_000);
    expect(await created(-3_600_000, "behind")).toBe(second - 3_600_000);
    own.clockSkewMs = 0;
  });

  it("counts requests by verb and resource, and knows who came when", async () => {
    const { api, own } = target.current;
    const { make, sandboxes, namespace } = await target.current.room();
    own.ledger.reset();
    await make("a");
    await api.merge(`${sandboxes}/a/status`, { status: { nodeName: "n" } });
    await api.get(sandboxes);
    await api.get(`${sandboxes}/none`);
    {
      using watch = await api.watch(`${sandboxes}?watch=1`);
      await watch.next();
    }
    expect(own.ledger.totals).toEqual({
      "create sandboxes": 1,
      "patch sandboxes/status": 1,
      "list sandboxes": 1,
      "get sandboxes": 1,
      "watch sandboxes": 1,
    });
    expect(own.ledger.count("get", "sandboxes")).toBe(1);
    expect(own.ledger.recent.find((entry) => entry.verb === "get")).toMatchObject({
      namespace,
      name: "none",
      user: "admin",
      code: 404,
      at: clock.now(),
    });
  });

  it("cuts off a watcher that does not read, before it fills the memory", async () => {
    const { api, own } = target.current;
    const { make, namespace, sandboxes } = await target.current.room();
    const made = await make("a");
    using watch = await api.watch(`${sandboxes}?watch=1&resourceVersion=${made.metadata.resourceVersion}`);
    expect(watch.code).toBe(200);
    const place = { resource: own.registry.stored("sandboxes.agents.x-k8s.io"), namespace, name: "a" };
    const filler = "x".repeat(1_000_000);
    for (let number = 0; number < 80; number += 1) {
      own.registry.force(place, (object) => {
        object.spec = { ...object.spec, podTemplate: { number, filler } };
      });
    }
    await until(() => own.openWatches === 0);
  });

  it("forgets old history by itself", async () => {
    const { own } = target.current;
    const { make, namespace } = await target.current.room();
    const made = await make("a");
    const place = { resource: own.registry.stored("sandboxes.agents.x-k8s.io"), namespace, name: "a" };
    for (let number = 0; number < 40_100; number += 1) {
      own.registry.force(place, ({ metadata }) => {
        metadata.labels = { number: String(number) };
      });
    }
    const { store } = own.registry;
    expect(store.historyLength).toBeLessThanOrEqual(40_000);
    expect(store.compacted).toBeGreaterThan(Number(made.metadata.resourceVersion));
  });
});
