import { VirtualClock } from "slipway/testing";
import { Socket } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { ApiError, ApiUnreachableError, isObjectMissing } from "../src/api/api-error.js";
import { KubeClient } from "../src/api/kube-client.js";
import { kubeConfigTransport } from "../src/api/transport.js";
import { ApiServer } from "./apiserver/index.js";
import { Driven, kubeConfig, NAMESPACE, startCluster } from "./kit.js";

const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const signal = new AbortController().signal;

async function virtual() {
  const clock = new VirtualClock();
  const cluster = await startCluster({ clock });
  const driven = new Driven(clock);
  const client = cluster.client({ transport: driven.watched(cluster.transport()) });
  return { clock, cluster, driven, client, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
}

describe("the client", () => {
  it.each([
    [`${PODS}/box`, "box"],
    [`${PODS}/box/status`, "box"],
    ["/apis/agents.x-k8s.io/v1beta1/namespaces/slipway/sandboxes/box", "box"],
    ["/apis/agents.x-k8s.io/v1beta1/namespaces/slipway/sandboxes/box/status", "box"],
    ["/api/v1/namespaces/slipway", "slipway"],
    ["/api/v1/namespaces/slipway/status", "slipway"],
    ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions/sandboxes", "sandboxes"],
    ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions/sandboxes/status", "sandboxes"],
  ])("takes the answer to a write of %s by the name of its object", async (path, name) => {
    const clock = new VirtualClock();
    const answeredWith = (body: object): KubeClient =>
      new KubeClient({
        clock,
        maxAttempts: 1,
        transport: () =>
          Promise.resolve({
            status: 200,
            header: () => undefined,
            body: (async function* () {
              yield await Promise.resolve(JSON.stringify(body));
            })(),
          }),
      });
    const own = { metadata: { name, uid: "u" } };
    expect(await answeredWith(own).patch(path, {}, { signal })).toEqual(own);
    expect(await answeredWith(own).delete(path, {}, { signal })).toEqual(own);
    const gone = { kind: "Status", details: { name } };
    expect(await answeredWith(gone).delete(path, {}, { signal })).toEqual(gone);
    const other = { kind: "Status", details: { name: "other" }, metadata: { name: "other", uid: "u" } };
    await expect(answeredWith(other).patch(path, {}, { signal })).rejects.toThrow(ApiUnreachableError);
    await expect(answeredWith(other).delete(path, {}, { signal })).rejects.toThrow(ApiUnreachableError);
  });

  it("waits as long as a 429 asks, for every request, and sends it again once", async () => {
    await using it = await virtual();
    const { clock, cluster, driven, client } = it;
    cluster.server.faults.inject({ fault: { kind: "status", code: 429, retryAfterSeconds: 7 }, times: 1 });
    const begunAt = clock.now();
    let answers = 0;
    const ask = async (): Promise<void> => {
      await client.get(PODS, { signal });
      answers += 1;
    };
    const first = ask();
    await driven.run(250);
    const second = ask();
    await driven.run(60_000, () => answers === 2);
    await Promise.all([first, second]);
    const times = cluster.server.ledger.recent.map(({ at }) => at - begunAt);
    expect(times).toHaveLength(3);
    expect(times[0]).toBeLessThan(500);
    expect(Math.min(...times.slice(1))).toBeGreaterThanOrEqual(7000);
  });

  it.each([
    [
      "a date on the server's own clock, which is an hour ahead",
      (at: number) => new Date(at + 3_620_000).toUTCString(),
      18_000,
      22_000,
    ],
    ["a date that has passed", (at: number) => new Date(at + 3_590_000).toUTCString(), 0, 2000],
    ["a week, which is a mistake", () => String(7 * 86_400), 300_000, 302_000],
  ])("waits as long as a Retry-After with %s asks", async (_what, header, least, most) => {
    const clock = new VirtualClock();
    const times: number[] = [];
    const client = new KubeClient({
      clock,
      patienceMs: 3_600_000,
      transport: () => {
        times.push(clock.now());
        const headers: Record<string, string> = {
          date: new Date(clock.now() + 3_600_000).toUTCString(),
          "retry-after": header(clock.now()),
        };
        const body = (async function* () {
          yield await Promise.resolve("{}");
        })();
        return Promise.resolve({
          status: times.length === 1 ? 429 : 200,
          header: (name: string) => headers[name],
          body,
        });
      },
    });
    const call = client.get(PODS, { signal });
    await clock.advanceAsync(400_000);
    await call;
    const waited = times[1]! - times[0]!;
    expect(waited).toBeGreaterThanOrEqual(least);
    expect(waited).toBeLessThanOrEqual(most);
  });

  it("asks a server that is down once at a time, at growing distances, however many calls wait", async () => {
    await using it = await virtual();
    const { cluster, driven, client } = it;
    let sent = 0;
    const transport = driven.watched(cluster.transport());
    const counted = cluster.client({
      transport: (request) => {
        sent += 1;
        return transport(request);
      },
    });
    await cluster.server.close();
    const calls = Array.from({ length: 200 }, () =>
      counted.get(PODS, { signal }).catch((error: unknown) => error),
    );
    let settled = 0;
    for (const call of calls) void call.then(() => (settled += 1));
    await driven.run(120_000, () => settled === 200);
    const results = await Promise.all(calls);
    expect(results.every((result) => result instanceof ApiUnreachableError)).toBe(true);
    // The 32 that were under way at first, and single ones from then on.
    expect(sent).toBeLessThan(60);
    await cluster.server.listen();
    await expect(Promise.race([client.get(PODS, { signal }), driven.run(60_000)])).resolves.toMatchObject({
      kind: "PodList",
    });
  });

  it("sends what failed with a 5xx again, and gives what stays so to its caller", async () => {
    await using it = await virtual();
    const { cluster, driven, client } = it;
    cluster.server.faults.inject({ fault: { kind: "status", code: 500 }, times: 2 });
    const call = client.get(PODS, { signal });
    await driven.run(30_000, () => cluster.server.ledger.requests >= 3);
    await expect(call).resolves.toMatchObject({ kind: "PodList" });
    cluster.server.faults.inject({ fault: { kind: "status", code: 500 } });
    const failing = client.get(PODS, { signal }).catch((error: unknown) => error);
    await driven.run(60_000, () => cluster.server.ledger.requests >= 7);
    expect(await failing).toMatchObject({ status: 500 });
    expect(cluster.server.ledger.requests).toBe(7);
  });

  it("gives a request that is never answered up after its limit, and tells whose time it was", async () => {
    await using it = await virtual();
    const { cluster, driven } = it;
    const client = cluster.client({ requestLimitMs: 5000, maxAttempts: 1, transport: cluster.transport() });
    cluster.server.faults.inject({ fault: { kind: "hang" } });
    const call = client.get(PODS, { signal }).catch((error: unknown) => error as Error);
    let done = false;
    void call.then(() => (done = true));
    await driven.run(10_000, () => done);
    expect(await call).toBeInstanceOf(ApiUnreachableError);
    expect((await call).message).toContain("no answer in time");
  });

  it("rejects with the caller's own reason, before, during and while it waits its turn", async () => {
    await using it = await virtual();
    const { cluster, driven, client } = it;
    const reason = new Error("not wanted any more");
    await expect(client.get(PODS, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    cluster.server.faults.inject({ fault: { kind: "hang" }, times: 1 });
    const during = new AbortController();
    const call = client.get(PODS, { signal: during.signal });
    await new Promise((resolve) => setTimeout(resolve, 0));
    during.abort(reason);
    await expect(call).rejects.toBe(reason);
    cluster.server.faults.inject({ fault: { kind: "status", code: 503, retryAfterSeconds: 60 }, times: 1 });
    const waiting = new AbortController();
    const later = client.get(PODS, { signal: waiting.signal });
    await driven.run(250);
    waiting.abort(reason);
    await expect(later).rejects.toBe(reason);
  });

  it("trusts the authority that it was given and no other", async () => {
    await using cluster = await startCluster();
    await using stranger = await ApiServer.start({ clock: cluster.clock, random: () => 0.5 });
    const config = kubeConfig(cluster.server, "gateway");
    const current = config.getCurrentCluster();
    config.clusters = [{ ...current!, caData: Buffer.from(stranger.ca).toString("base64") }];
    const client = new KubeClient({
      transport: kubeConfigTransport(config),
      clock: cluster.clock,
      maxAttempts: 1,
    });
    await expect(client.get(PODS, { signal })).rejects.toThrow(/certificate|self.signed|verify/i);
  });

  it("tells a missing object from a path that nobody serves, and a refusal from both", async () => {
    await using cluster = await startCluster();
    const client = cluster.client();
    const missing = client.get(`/apis/agents.x-k8s.io/v1beta1/namespaces/${NAMESPACE}/sandboxes/none`, {
      signal,
    });
    await expect(missing).rejects.toMatchObject({ status: 404, reason: "NotFound" });
    const unserved = client.get(`/apis/agents.x-k8s.io/v9/namespaces/${NAMESPACE}/sandboxes/none`, {
      signal,
    });
    const error = await unserved.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(isObjectMissing(error, "none")).toBe(false);
    expect(isObjectMissing(await missing.catch((thrown: unknown) => thrown), "none")).toBe(true);
    await expect(client.get(`/api/v1/namespaces/${NAMESPACE}/secrets/x`, { signal })).rejects.toMatchObject({
      status: 403,
    });
    cluster.server.revokeToken("gateway");
    await expect(client.get(PODS, { signal })).rejects.toMatchObject({ status: 401 });
  });

  it.each([3_600_000, -3_600_000])("reads the cluster's clock from its answers (%i ms off)", async (skew) => {
    await using cluster = await startCluster();
    const client = cluster.client();
    await client.get(PODS, { signal });
    expect(client.skewFrom(cluster.clock)).toBe(0);
    cluster.server.clockSkewMs = skew;
    const other = cluster.client();
    await other.get(PODS, { signal });
    expect(Math.abs(other.skewFrom(cluster.clock) - skew)).toBeLessThan(3000);
  });

  it("has the system ask whether the other end of a silent watch is still there", async () => {
    const probed = vi.spyOn(Socket.prototype, "setKeepAlive");
    await using cluster = await startCluster();
    const client = cluster.client();
    const ending = new AbortController();
    let asked: readonly unknown[] = [];
    const onOpen = (): void => {
      asked = probed.mock.lastCall ?? [];
      ending.abort(new Error("seen"));
    };
    const query = { watch: true, resourceVersion: "0" };
    const options = { query, signal: ending.signal, idleLimitMs: () => 60_000, onOpen };
    await expect(client.watch(PODS, options).next()).rejects.toThrow("seen");
    expect(asked).toEqual([true, expect.any(Number)]);
    expect(asked[1]).toBeLessThanOrEqual(30_000);
    probed.mockRestore();
  });
});
