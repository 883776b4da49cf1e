import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../src/gateway/gateway.js";
import { buildApp } from "../src/http/app.js";
import { TokenBuckets } from "../src/http/token-buckets.js";
import { Bench } from "./bench.js";

describe("token buckets", () => {
  it("grant a burst and then the rate, whatever comes when, and say exactly when there is a token again", () => {
    const rates = fc.record({
      perSecond: fc.integer({ min: 1, max: 50 }),
      burst: fc.integer({ min: 1, max: 20 }),
    });
    const waits = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 100 });
    fc.assert(
      fc.property(rates, waits, (rate, pauses) => {
        const buckets = new TokenBuckets(rate);
        let now = 1_800_000_000_000;
        const start = now;
        let granted = 0;
        for (const pause of pauses) {
          now += pause;
          const waitMs = buckets.take("one", now);
          if (waitMs === 0) granted += 1;
          else {
            // To the millisecond: not before, and then one for sure.
            expect(waitMs === 1 || buckets.take("one", now + waitMs - 1) > 0).toBe(true);
            now += waitMs;
            expect(buckets.take("one", now)).toBe(0);
            granted += 1;
          }
        }
        expect(granted).toBeLessThanOrEqual(rate.burst + ((now - start) / 1000) * rate.perSecond + 1e-6);
      }),
      { seed: 7, numRuns: 200 },
    );
  });

  it("are one for each key, of which a bounded number is remembered, the busy ones longest", () => {
    const buckets = new TokenBuckets({ perSecond: 1, burst: 1 }, 100);
    expect(buckets.take("busy", 0)).toBe(0);
    for (let other = 0; other < 10_000; other += 1) {
      expect(buckets.take(`other-${other}`, 0)).toBe(0);
      expect(buckets.take("busy", 0)).toBe(1000);
    }
    expect(buckets.size).toBe(100);
  });

  it("earn nothing by a clock that goes back", () => {
    const buckets = new TokenBuckets({ perSecond: 1, burst: 2 });
    expect([buckets.take("one", 5000), buckets.take("one", 5000), buckets.take("one", 0)]).toEqual([
      0, 0, 1000,
    ]);
  });
});

describe("an API with limits", () => {
  let bench: Bench;
  let gateway: Gateway;

  beforeEach(async () => {
    bench = await Bench.open();
    gateway = await bench.gateway();
  });

  afterEach(() => bench.close());

  const api = (client: number, address: number) =>
    buildApp({
      gateway,
      log: () => undefined,
      ownerToken: "owner",
      rates: { client: { perSecond: 1, burst: client }, address: { perSecond: 1, burst: address } },
    });
  const ask = (
    app: ReturnType<typeof api>,
    token: string,
    remoteAddress = "10.0.0.7",
    path = "/v1/sandboxes",
  ) =>
    app.request(
      path,
      { headers: { authorization: `Bearer ${token}` } },
      { incoming: { socket: { remoteAddress } } },
    );

  it("answers 429 with the seconds to wait, and goes on after them", async () => {
    const app = api(2, 100);
    expect([(await ask(app, "owner")).status, (await ask(app, "owner")).status]).toEqual([200, 200]);
    const refused = await ask(app, "owner");
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.json()).toMatchObject({ error: { code: "too-many-requests" } });
    await bench.pass(1000);
    expect((await ask(app, "owner")).status).toBe(200);
  });

  it("lets nobody spend what another token's owner has, also from one address", async () => {
    const app = api(2, 1000);
    for (let guess = 0; guess < 50; guess += 1)
      expect((await ask(app, `guess-${guess}`, "10.0.0.7")).status).toBe(401);
    expect((await ask(app, "owner", "10.0.0.7")).status).toBe(200);
  });

  it("stops one address that guesses tokens, on the supervisors' side as well, and no other address", async () => {
    const app = api(100, 10);
    const path = "/v1/supervisor/sb-none/configuration";
    const statuses: number[] = [];
    for (let guess = 0; guess < 12; guess += 1)
      statuses.push((await ask(app, `guess-${guess}`, "10.0.0.7", path)).status);
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429, 429]);
    expect((await ask(app, "guess", "10.0.0.8", path)).status).toBe(401);
  });

  it("takes a whole network of IPv6 for one address, and an IPv4 one in IPv6 for itself", async () => {
    const app = api(100, 1);
    expect((await ask(app, "owner", "2001:db8:1:2::1")).status).toBe(200);
    expect((await ask(app, "owner", "2001:db8:1:2:ffff::9")).status).toBe(429);
    expect((await ask(app, "owner", "2001:db8:1:3::1")).status).toBe(200);
    expect((await ask(app, "owner", "::ffff:10.0.0.7")).status).toBe(200);
    expect((await ask(app, "owner", "10.0.0.7")).status).toBe(429);
  });

  it("always tells whether it lives and is ready", async () => {
    const app = api(1, 1);
    for (let probe = 0; probe < 5; probe += 1)
      for (const path of ["/healthz", "/readyz"])
        expect((await ask(app, "", "10.0.0.7", path)).status).toBe(200);
  });
});
