import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { VirtualClock } from "slipway/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GatewayLink } from "../src/supervisor/gateway-link.js";
import { BootstrapTimeError, RemoteDeadline } from "../src/supervisor/remote-deadline.js";

const BUDGET_MS = 60_000;
const { signal } = new AbortController();

let clock: VirtualClock;
let deadline: RemoteDeadline;
let server: Server;
let link: GatewayLink;
/** How the gateway answers a look at the ledger. */
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  clock = new VirtualClock();
  deadline = new RemoteDeadline(clock, BUDGET_MS);
  server = createServer((_request, response) => answer(response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  link = new GatewayLink({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ sandbox: "sb-1", token: "secret", run: 1, clock },
    onAnswer: (...told) => deadline.told(...told),
  });
});

afterEach(async () => {
  deadline[Symbol.dispose]();
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
});

/** An answer that is on its way for so long: before it is given, and between its head and its end. */
function slowly(headers: Record<string, string>, beforeMs: number, withinMs: number): void {
  answer = (response) => {
    clock.advance(beforeMs);
    response.writeHead(200, { "content-type": "application/json", ...headers });
    response.write('{"entry":');
    clock.advance(withinMs);
    response.end("null}");
  };
}

const remaining = (ms: number) => ({ "x-slipway-remaining-ms": String(ms) });

describe("what is left of a deadline that was told", () => {
  it.each([
    ["before it was given", 4000, 0],
    ["between its head and its end", 0, 4000],
    ["all along", 2500, 1500],
  ])("is less by what the answer took %s", async (_when, beforeMs, withinMs) => {
    slowly(remaining(6000), beforeMs, withinMs);
    await link.readActivation(signal);
    expect(deadline.remainingMs()).toBe(2000);
    clock.advance(2000);
    expect(deadline.signal.reason).toBeInstanceOf(BootstrapTimeError);
  });

  it("is nothing where it passed on the way, and no later answer changes that", async () => {
    slowly(remaining(2000), 0, 4000);
    await link.readActivation(signal);
    expect(deadline.remainingMs()).toBeLessThanOrEqual(0);
    slowly(remaining(30_000), 0, 0);
    await link.readActivation(signal);
    expect(deadline.remainingMs()).toBeLessThanOrEqual(0);
    clock.advance(1);
    expect(deadline.signal.aborted).toBe(true);
  });

  it("is not less by what the gateway held the question before it looked", async () => {
    slowly({ ...remaining(5000), "x-slipway-held-ms": "8000" }, 8000, 1000);
    await link.readActivation(signal);
    expect(deadline.remainingMs()).toBe(4000);
  });

  it("is not what an answer says that was overtaken by a later look", async () => {
    const looked = (version: number) => ({ "x-slipway-deadline-version": String(version) });
    slowly({ ...remaining(9000), ...looked(7) }, 0, 0);
    await link.readActivation(signal);
    // Looked at before a change renewed the window, and after the preparation's longer one was over.
    for (const ms of [1000, 50_000]) {
      slowly({ ...remaining(ms), ...looked(6) }, 0, 0);
      await link.readActivation(signal);
      expect(deadline.remainingMs()).toBe(9000);
    }
    slowly({ ...remaining(8000), ...looked(7) }, 0, 0);
    await link.readActivation(signal);
    expect(deadline.remainingMs()).toBe(8000);
    slowly(looked(8), 0, 0);
    await link.readActivation(signal);
    slowly({ ...remaining(1000), ...looked(7) }, 0, 0);
    await link.readActivation(signal);
    expect(deadline.remainingMs()).toBe(Number.POSITIVE_INFINITY);
  });

  it("is without an end once there is none", async () => {
    slowly({}, 10, 10);
    await link.readActivation(signal);
    expect(deadline.remainingMs()).toBe(Number.POSITIVE_INFINITY);
  });
});
