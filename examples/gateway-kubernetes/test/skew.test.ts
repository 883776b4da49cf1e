import { Readable } from "node:stream";
import type { Clock } from "slipway";
import { VirtualClock } from "slipway/testing";
import { expect, it } from "vitest";
import { KubeClient } from "../src/api/kube-client.js";

const { signal } = new AbortController();

/** A host's clock, and a client on it of a cluster that is so far ahead. */
function clientOf(aheadMs: number): { host: VirtualClock; client: KubeClient } {
  const host = new VirtualClock();
  const transport = () =>
    Promise.resolve({
      status: 200,
      header: (name: string) => (name === "date" ? new Date(host.now() + aheadMs).toUTCString() : undefined),
      body: Readable.from([Buffer.from("{}")]),
    });
  return { host, client: new KubeClient({ clock: host, transport }) };
}

/** The same time, for a process that is stopped so often right before it reads it. */
function stoppedBefore(host: VirtualClock, stops: number): Clock {
  let left = stops;
  return {
    now: () => {
      if (left > 0) host.advance(8000);
      left -= 1;
      return host.now();
    },
    schedule: host.schedule.bind(host),
  };
}

it.each([1, 4, 5, 1000])("takes its own pause for no skew, after being stopped %i times", async (stops) => {
  const { host, client } = clientOf(0);
  await client.get("/version", { signal });
  expect(client.skewFrom(stoppedBefore(host, stops))).toBe(0);
});

it("finds the skew all the same, once the clocks are read together", async () => {
  const { host, client } = clientOf(60_000);
  await client.get("/version", { signal });
  expect(Math.abs(client.skewFrom(stoppedBefore(host, 2)) - 60_000)).toBeLessThan(1000);
});

it("keeps what it knew of a clock while it cannot be read together", async () => {
  const { host, client } = clientOf(60_000);
  await client.get("/version", { signal });
  let pauses = false;
  const now = (): number => {
    if (pauses) host.advance(8000);
    return host.now();
  };
  const clock: Clock = { now, schedule: host.schedule.bind(host) };
  const known = client.skewFrom(clock);
  pauses = true;
  expect(client.skewFrom(clock)).toBe(known);
  // Of another one nothing is known.
  expect(client.skewFrom({ ...clock })).toBe(0);
});
