import { pbkdf2 } from "node:crypto";
import { stat } from "node:fs/promises";
import { promisify } from "node:util";
import { VirtualClock } from "slipway/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Driven, NAMESPACE, startCluster, type Api } from "./kit.js";
import { Traffic } from "./traffic.js";

const PATH = `/api/v1/namespaces/${NAMESPACE}/secrets`;
const { signal } = new AbortController();

describe("virtual time, of tests with an API server", () => {
  const clock = new VirtualClock();
  const driven = new Driven(clock);
  let api: Api;

  beforeAll(async () => {
    api = await startCluster({ clock });
  });
  afterAll(() => api[Symbol.asyncDispose]());

  const took = async (work: Promise<unknown>): Promise<number> => {
    const begunAt = clock.now();
    let done = false;
    const settled = work.finally(() => (done = true));
    await driven.run(600_000, () => done);
    await settled;
    return clock.now() - begunAt;
  };

  it("stands still while a file is read, however long the machine takes", async () => {
    // Every thread that reads files is at work on something else.
    const busy = Array.from({ length: 8 }, () => promisify(pbkdf2)("a", "b", 60_000, 64, "sha512"));
    expect(await took(stat("."))).toBeLessThanOrEqual(250);
    await Promise.all(busy);
  });

  it("stands still while any client of the kit is answered", async () => {
    expect(await took(api.admin.get(PATH, { signal }))).toBeLessThanOrEqual(250);
  });

  it("moves on where the server itself holds a request back", async () => {
    api.server.faults.inject({ fault: { kind: "delay", ms: 5000 }, times: 1 });
    expect(await took(api.admin.get(PATH, { signal }))).toBeGreaterThanOrEqual(5000);
    api.server.faults.inject({ fault: { kind: "hang" }, times: 1 });
    expect(await took(api.admin.get(PATH, { signal }))).toBeGreaterThanOrEqual(30_000);
    expect(Traffic.on(clock).underWay).toBeNull();
  });

  it("stands still until the events of a watch have come", async () => {
    const events: unknown[] = [];
    const ending = new AbortController();
    const watching = (async () => {
      const watch = api.admin.watch(PATH, {
        query: { watch: true },
        signal: ending.signal,
        idleLimitMs: () => 60_000,
      });
      for await (const event of watch) events.push(event);
    })();
    await driven.run(1000);
    api.server.apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "one", namespace: NAMESPACE },
    });
    expect(Traffic.on(clock).underWay).toMatch(/^\d+ bytes of a watch$/);
    await driven.run(0);
    expect(events).toHaveLength(1);
    expect(Traffic.on(clock).underWay).toBeNull();
    ending.abort();
    await expect(watching).rejects.toThrow();
  });
});
