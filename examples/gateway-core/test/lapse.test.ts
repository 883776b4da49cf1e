import { createParser } from "eventsource-parser";
import { afterEach, beforeEach, expect, it } from "vitest";
import { buildApp } from "../src/http/app.js";
import { Bench } from "./bench.js";

let bench: Bench;

beforeEach(async () => {
  bench = await Bench.open();
});

afterEach(() => bench.close());

it("who follows all sandboxes begins anew when writes of other gateways may have been missed", async () => {
  const gateway = await bench.gateway();
  const app = buildApp({ gateway, log: () => undefined, ownerToken: undefined });
  const leave = new AbortController();
  const response = await app.request("/v1/events", { signal: leave.signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const events: { event: string; id: string | undefined }[] = [];
  const parser = createParser({ onEvent: ({ event = "", id }) => events.push({ event, id }) });
  const until = async (count: number): Promise<void> => {
    while (events.length < count) parser.feed((await reader.read()).value ?? "");
  };
  await until(2);
  // Another gateway's create, of which no news came.
  const other = await bench.gateway("two");
  await bench.create(other);
  gateway.noticeGap();
  await until(5);
  expect(events.map(({ event }) => event)).toEqual(["reset", "snapshot", "reset", "sandbox", "snapshot"]);
  // Who comes back with an id from before the gap gets no part of what there was.
  const before = Number(events[1]?.id?.split(".")[1]);
  expect(gateway.hub.since(before)).toBeNull();
  leave.abort();
  await reader.cancel();
});
