import { serveGateway, StoreAwayError } from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import { VirtualClock, seededRandom } from "slipway/testing";
import { afterAll, describe, expect, it } from "vitest";
import { KubeClient } from "../src/api/kube-client.js";
import type { Transport } from "../src/api/transport.js";
import { gatewayParts } from "../src/kubernetes-gateway.js";
import { BUDGETS, tempDirs } from "./gateway-kit.js";
import { SETTINGS } from "./kit.js";

afterAll(() => tempDirs.remove());

/** Longer than whoever starts a gateway waits: the client's own waits have grown to their longest by then. */
const STARTS = 8;

/** A cluster that answers so; each start of a gateway on it fails, and says with what. */
async function failingStarts(transportOn: (clock: Clock) => Transport) {
  const clock = new VirtualClock();
  const transport = transportOn(clock);
  const random = seededRandom(1);
  const settings = { sandboxes: SETTINGS, store: "cluster" as const, version: undefined, tls: undefined };
  // One client for all of them, as in a process that starts its gateway again and again.
  const parts = gatewayParts(settings, () => new KubeClient({ transport, clock, random }), random);
  const dataDir = await tempDirs.make();
  const failures: unknown[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    const seen = { isOver: false };
    const options = { clock, dataDir, port: 0, budgets: BUDGETS, log: () => undefined, ...parts };
    const ended = serveGateway(options).then(
      () => "it started",
      (error: unknown) => error,
    );
    void ended.finally(() => (seen.isOver = true));
    while (!seen.isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advanceAsync(100);
    }
    failures.push(await ended);
  }
  return failures;
}

function answering(status: number, isDated = true): (clock: Clock) => Transport {
  const body = JSON.stringify({ kind: "Status", message: "no" });
  return (clock) => () =>
    Promise.resolve({
      status,
      header: (name) => (isDated && name === "date" ? new Date(clock.now()).toUTCString() : undefined),
      body: (async function* () {
        yield await Promise.resolve(body);
      })(),
    });
}

const silent =
  (): Transport =>
  ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });

const refusing = (): Transport => () =>
  Promise.reject(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));

describe("a gateway on a cluster whose API server", () => {
  it.each([
    ["refuses connections", refusing],
    ["does not answer", silent],
    ["is overloaded", answering(429)],
    ["has no storage", answering(500)],
    ["is behind a balancer that misses it", answering(503)],
    ["does not date its answers", answering(200, false)],
  ])(
    "%s: may start a moment later, however often it was asked",
    { timeout: 60_000 },
    async (_, transport) => {
      const failures = await failingStarts(transport);
      for (const failure of failures) expect(failure).toBeInstanceOf(StoreAwayError);
    },
  );

  it("has been away for so long that nobody's turn comes in time: the same", {
    timeout: 60_000,
  }, async () => {
    const failures = await failingStarts(refusing);
    expect(String(failures.at(-1))).toMatch(/ECONNREFUSED|does not keep up/);
    expect(failures.map(String).join()).toContain("does not keep up");
  });

  it("does not let it in yet, as before its rights are there: the same, and says why", {
    timeout: 60_000,
  }, async () => {
    for (const status of [401, 403]) {
      const failures = await failingStarts(answering(status));
      for (const failure of failures) {
        expect(failure).toBeInstanceOf(StoreAwayError);
        expect(String(failure)).toMatch(new RegExp(`cannot be followed at present: GET \\S+: ${status} no`));
      }
    }
  });
});
