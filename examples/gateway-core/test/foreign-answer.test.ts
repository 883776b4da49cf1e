import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { VirtualClock } from "slipway/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FailureTally } from "../src/supervisor/failure-tally.js";
import { GatewayLink } from "../src/supervisor/gateway-link.js";
import { RemoteDeadline } from "../src/supervisor/remote-deadline.js";

const BUDGET_MS = 60_000;
const { signal } = new AbortController();

let clock: VirtualClock;
let deadline: RemoteDeadline;
let failures: FailureTally;
let server: Server;
let link: GatewayLink;
let body: string;

beforeEach(async () => {
  clock = new VirtualClock();
  deadline = new RemoteDeadline(clock, BUDGET_MS);
  failures = new FailureTally();
  server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  link = new GatewayLink({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ sandbox: "sb-1", token: "secret", run: 1, clock, failures },
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

describe("another program on the gateway's port", () => {
  it.each<[string, () => Promise<unknown>]>([
    ["configuration", () => link.configurationAfter(0, 0, signal)],
    ["a report", () => link.report({ kind: "accepted", generation: 1 }, signal)],
    ["the ledger's entry", () => link.readActivation(signal)],
    ["a swap", () => link.swapActivation(null, null, signal)],
  ])("does not end the deadline by what it answers to a question for %s", async (_what, ask) => {
    failures.add("transient");
    for (body of ["{}", "[]", '"ok"', '"not-current"', '{"status":"up"}', "7", "true"]) {
      await expect(ask()).rejects.toThrow();
      expect(deadline.remainingMs()).toBe(BUDGET_MS);
    }
    expect(failures.take()).toEqual({ transient: 1 });
  });
});
