import type { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildApp, type AppOptions } from "../src/http/app.js";
import { MOST_WAITING } from "../src/http/event-streams.js";
import { QUIET_MS, STUCK_MS } from "../src/http/event-writer.js";
import { OpenAnswers } from "../src/http/open-answers.js";
import { GatewayMetrics } from "../src/metrics/gateway-metrics.js";
import type { Gateway } from "../src/gateway/gateway.js";
import { Bench } from "./bench.js";
import { seededRandom } from "./random.js";

describe("places for open answers", () => {
  it("are given back once each, and a client without any is forgotten", () => {
    const answers = new OpenAnswers({ perClient: 3, all: 7 });
    const random = seededRandom(11);
    const taken = new Map<string, Disposable[]>();
    for (let turn = 0; turn < 2000; turn += 1) {
      const client = `client-${Math.floor(random() * 5)}`;
      const own = taken.get(client) ?? [];
      const all = [...taken.values()].flat().length;
      if (random() < 0.5) {
        const entered = answers.enter(client);
        if (own.length >= 3) expect(entered).toBe("client");
        else if (all >= 7) expect(entered).toBe("all");
        else taken.set(client, [...own, entered as Disposable]);
      } else {
        const place = own.pop();
        place?.[Symbol.dispose]();
        place?.[Symbol.dispose]();
        if (own.length === 0) taken.delete(client);
        else taken.set(client, own);
      }
      expect(answers.size).toBe([...taken.values()].flat().length);
      expect(answers.clients).toBe(taken.size);
    }
  });
});

describe("streams of events", () => {
  let bench: Bench;
  let gateway: Gateway;
  let logged: string[];

  beforeEach(async () => {
    bench = await Bench.open();
    gateway = await bench.gateway();
    logged = [];
  });

  afterEach(() => bench.close());

  const api = (options: Partial<AppOptions> = {}): Hono =>
    buildApp({
      gateway,
      log: (event, fields) => void logged.push(`${event} ${String(fields["error"])}`),
      ownerToken: "owner",
      ...options,
    });

  function ask(app: Hono, path = "/v1/events", address = "10.0.0.7", method = "GET"): Promise<Response> {
    return Promise.resolve(
      app.request(
        path,
        { method, headers: { authorization: "Bearer owner" } },
        { incoming: { socket: { remoteAddress: address } } },
      ),
    );
  }

  /** Reads until the text of a stream has something. */
  async function readUntil(response: Response, what: string): Promise<string> {
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    let text = "";
    while (!text.includes(what)) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`the stream ended after ${JSON.stringify(text)}`);
      text += decoder.decode(value, { stream: true });
    }
    reader.releaseLock();
    return text;
  }

  it("are so many for one client and no more, and a closed one makes room", async () => {
    const app = api({ streams: { perClient: 2, all: 10 } });
    const { id } = (await gateway.create(bench.request)).record;
    const first = await ask(app);
    const second = await ask(app, `/v1/sandboxes/${id}/watch`);
    const refused = await ask(app);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(await refused.json()).toMatchObject({ error: { code: "too-many-open" } });
    const other = await ask(app, "/v1/events", "10.0.0.8");
    expect(other.status).toBe(200);
    await first.body?.cancel();
    await bench.settle();
    const third = await ask(app);
    expect(third.status).toBe(200);
    for (const open of [second, third, other]) await open.body?.cancel();
  });

  it("take no place where only their headers are asked for", async () => {
    const metrics = new GatewayMetrics();
    const app = api({ streams: { perClient: 1, all: 1 }, metrics });
    const { id } = (await gateway.create(bench.request)).record;
    for (const path of ["/v1/events", `/v1/sandboxes/${id}/watch`]) {
      const answer = await ask(app, path, "10.0.0.7", "HEAD");
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe("text/event-stream");
      expect(answer.body).toBeNull();
      await bench.settle();
      expect(await metrics.render()).toMatch(/^slipway_streams_open 0$/m);
    }
    const stream = await ask(app);
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    await stream.body?.cancel();
  });

  it("are so many in all and no more, which the metrics tell", async () => {
    const metrics = new GatewayMetrics();
    const app = api({ streams: { perClient: 3, all: 2 }, metrics });
    const open = [await ask(app, "/v1/events", "10.0.0.1"), await ask(app, "/v1/events", "10.0.0.2")];
    const refused = await ask(app, "/v1/events", "10.0.0.3");
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: { code: "busy" } });
    expect(await metrics.render()).toMatch(/^slipway_streams_open 2$/m);
    expect(await metrics.render()).toMatch(/^slipway_streams_refused_total\{limit="all"\} 1$/m);
    for (const each of open) await each.body?.cancel();
    await bench.settle();
    expect(await metrics.render()).toMatch(/^slipway_streams_open 0$/m);
  });

  it("show that they are alive when nothing happens", async () => {
    const shows = async (path: string, first: string): Promise<void> => {
      const stream = await ask(api(), path);
      await readUntil(stream, first);
      await bench.settle();
      const alive = readUntil(stream, ": still here\n\n");
      // A sweep may find something to write in between, which begins the silence anew.
      for (let passed = 0; passed < 2 * QUIET_MS; passed += 1000) await bench.pass(1000);
      await alive;
      await stream.body?.cancel();
    };
    await shows("/v1/events", "event: snapshot");
    // One that runs, so that nothing is written of it.
    const id = await bench.create(gateway);
    await bench.becomeReady(gateway, id);
    await shows(`/v1/sandboxes/${id}/watch`, "event: sandbox");
  });

  it("end for a reader that takes nothing, and give its place back", async () => {
    const metrics = new GatewayMetrics();
    let isCut = false;
    const outgoing = { destroy: () => (isCut = true) };
    const app = api({ metrics });
    await app.request(
      "/v1/events",
      { headers: { authorization: "Bearer owner" } },
      { incoming: { socket: { remoteAddress: "10.0.0.7" } }, outgoing },
    );
    await bench.settle();
    expect(await metrics.render()).toMatch(/^slipway_streams_open 1$/m);
    await bench.pass(STUCK_MS - 1);
    expect(isCut).toBe(false);
    await bench.pass(1);
    expect(isCut).toBe(true);
    expect(logged.filter((line) => line.startsWith("stream-ended"))).toHaveLength(1);
    expect(await metrics.render()).toMatch(/^slipway_streams_open 0$/m);
  });

  it("keep no more than so many events for a slow reader, which gets a snapshot instead", async () => {
    const stream = await ask(api());
    await readUntil(stream, "event: snapshot");
    await bench.settle();
    const { record } = await gateway.create(bench.request);
    for (let version = 2; version < MOST_WAITING + 10; version += 1)
      gateway.hub.publish(record.id, version, { ...record, message: `write ${version}` });
    const text = await readUntil(stream, "event: snapshot");
    expect(text).toContain("event: reset");
    expect(text.match(/event: sandbox/g)?.length).toBeLessThan(10);
    await stream.body?.cancel();
  });

  it("that fail are logged and end, and nobody is told why", async () => {
    const { id } = (await gateway.create(bench.request)).record;
    const app = api();
    const stream = await ask(app, `/v1/sandboxes/${id}/watch`);
    await readUntil(stream, "event: sandbox");
    const store = bench.storeOf(gateway);
    const { get } = store;
    store.get = () => Promise.reject(new Error("the store said no"));
    await bench.pass(1000);
    store.get = get;
    expect(logged).toEqual(["stream-ended the store said no"]);
    const rest = await stream.text().catch(() => "");
    expect(rest).not.toContain("the store said no");
  });
});
