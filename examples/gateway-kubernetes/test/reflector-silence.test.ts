import { seededRandom, VirtualClock } from "slipway/testing";
import { describe, expect, it } from "vitest";
import { KubeClient } from "../src/api/kube-client.js";
import { onAbort } from "../src/api/on-abort.js";
import { nameOf, type Plain } from "../src/api/plain.js";
import { Reflector } from "../src/api/reflector.js";
import type { Transport, TransportReply } from "../src/api/transport.js";
import { RecordMirror } from "../src/store/record-mirror.js";

type Script = readonly (readonly [afterMs: number, event: object])[];

const object = (name: string, version: string): object => ({
  metadata: { name, uid: name, resourceVersion: version },
});
const bookmark = (version: string) => ({
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: version } },
});

/**
 * A server that lists what it is told to, and whose watches, one after another, tell what their scripts say and then
 * nothing, with the connection open. Fakes the wire; requests are noted with their instants.
 */
function server(lists: readonly object[], watches: readonly (Script | { readonly status: object })[]) {
  const clock = new VirtualClock({ startAt: 0 });
  const asked: string[] = [];
  let listed = 0;
  let watched = 0;
  const answer = (status: number, body: AsyncIterable<string>): TransportReply => ({
    status,
    header: () => undefined,
    body,
  });
  const once = async function* (value: object): AsyncGenerator<string> {
    yield await Promise.resolve(JSON.stringify(value));
  };
  const wait = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const aborted = onAbort(signal, () => reject(signal.reason as Error));
      if (ms === Number.POSITIVE_INFINITY) return;
      clock.schedule(clock.now() + ms, () => {
        aborted[Symbol.dispose]();
        resolve();
      });
    });
  const told = async function* (script: Script, signal: AbortSignal): AsyncGenerator<string> {
    for (const [afterMs, event] of script) {
      await wait(afterMs, signal);
      yield `${JSON.stringify(event)}\n`;
    }
    await wait(Number.POSITIVE_INFINITY, signal);
  };
  const transport: Transport = ({ path, signal }) => {
    const from = new URLSearchParams(path.split("?")[1]).get("resourceVersion");
    const isWatch = path.includes("watch=true");
    asked.push(`${Math.round(clock.now() / 1000)}s ${isWatch ? `watch from ${from ?? "?"}` : "list"}`);
    if (!isWatch) {
      listed += 1;
      return Promise.resolve(answer(200, once(lists[Math.min(listed, lists.length) - 1] ?? {})));
    }
    watched += 1;
    const script = watches[watched - 1] ?? [];
    if (!Array.isArray(script))
      return Promise.resolve(answer(504, once((script as { status: object }).status)));
    return Promise.resolve(answer(200, told(script as Script, signal)));
  };
  const objects = new Map<string, Plain>();
  const reflector = new Reflector({
    client: new KubeClient({ transport, clock, random: seededRandom(1) }),
    clock,
    random: seededRandom(2),
    path: "/things",
    query: {},
    sink: {
      listing: () => objects.clear(),
      page: (items) => {
        for (const each of items) objects.set(nameOf(each), each);
      },
      listed: () => undefined,
      changed: (each) => void objects.set(nameOf(each), each),
      deleted: (each) => void objects.delete(nameOf(each)),
    },
  });
  const closing = new AbortController();
  const running = reflector.run(closing.signal);
  return {
    clock,
    asked,
    names: () => [...objects.keys()].sort(),
    async [Symbol.asyncDispose]() {
      closing.abort(new Error("over"));
      await running;
    },
  };
}

const list = (version: string, ...names: string[]) => ({
  kind: "ThingList",
  metadata: { resourceVersion: version },
  items: names.map((name) => object(name, version)),
});

describe("a watch that is silent", () => {
  it("is taken for dead soon where the server sends bookmarks, and goes on where it was", async () => {
    await using it = server(
      [list("10", "a")],
      [
        [
          [60_000, bookmark("11")],
          [60_000, bookmark("12")],
        ],
        [[1000, { type: "ADDED", object: object("b", "13") }]],
      ],
    );
    await it.clock.advanceAsync(300_000);
    expect(it.asked.slice(0, 3)).toEqual([
      "0s list",
      "0s watch from 10",
      expect.stringMatching(/^25\ds watch from 12$/),
    ]);
    expect(it.names()).toEqual(["a", "b"]);
  });

  it("is given the time that it asked for where none were ever sent", async () => {
    await using it = server([list("10", "a")], []);
    await it.clock.advanceAsync(325_000);
    expect(it.asked).toHaveLength(2);
    await it.clock.advanceAsync(10_000);
    expect(it.asked.at(-1)).toMatch(/watch from 10$/);
  });
});

describe("what a watch may tell beside changes", () => {
  const event = (type: string, what: unknown) => ({ type, object: what });
  const failed = event("ERROR", { kind: "Status", code: 500, message: "etcd leader changed" });

  it("is passed over where it is no object, and resumed behind where it is an error of the server", async () => {
    await using it = server(
      [list("10", "a")],
      [
        [
          [10, event("ADDED", null)],
          [10, event("ADDED", {})],
          [10, event("MODIFIED", { metadata: {} })],
          [10, event("DELETED", { kind: "Thing" })],
          [10, event("SOMETHING", object("c", "11"))],
          [10, []],
          [10, event("ADDED", object("b", "12"))],
          [10, failed],
        ],
        [[10, failed]],
        [[10, event("DELETED", object("a", "13"))]],
      ],
    );
    await it.clock.advanceAsync(60_000);
    expect(it.asked.map((line) => line.replace(/^\d+s /, ""))).toEqual([
      "list",
      "watch from 10",
      "watch from 12",
      "watch from 12",
    ]);
    expect(it.names().filter((name) => name !== "")).toEqual(["b"]);
  });
});

describe("a version that the server has not come to, as after a restore from a backup", () => {
  it("is given up when the server says so", async () => {
    const status = {
      kind: "Status",
      code: 504,
      reason: "Timeout",
      details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] },
    };
    await using it = server(
      [list("900", "old"), list("10", "restored")],
      [[[1000, bookmark("905")]], { status }, [[1000, { type: "ADDED", object: object("new", "11") }]]],
    );
    await it.clock.advanceAsync(200_000);
    expect(it.asked.map((line) => line.replace(/^\d+s /, ""))).toEqual([
      "list",
      "watch from 900",
      "watch from 905",
      "list",
      "watch from 10",
    ]);
    expect(it.names()).toEqual(["new", "restored"]);
  });

  it("is given up when the server says nothing at all, not even a bookmark", async () => {
    await using it = server(
      [list("900", "old"), list("10", "restored")],
      [[[1000, bookmark("905")]], [], [[1000, { type: "ADDED", object: object("new", "11") }]]],
    );
    await it.clock.advanceAsync(400_000);
    expect(it.asked.map((line) => line.replace(/^\d+s /, ""))).toEqual([
      "list",
      "watch from 900",
      "watch from 905",
      "list",
      "watch from 10",
      "watch from 11",
    ]);
    expect(it.names()).toEqual(["new", "restored"]);
  });

  it("leaves no record of the time after the backup in the mirror, but what was written here since", () => {
    const heard: (readonly [string, number])[] = [];
    const listener = {
      settled: () => undefined,
      interrupted: () => undefined,
      news: (id: string, version: number) => void heard.push([id, version]),
    };
    const mirror = new RecordMirror("gw", listener);
    const record = (name: string, version: number): Plain => ({
      metadata: { name, uid: name, resourceVersion: "1", labels: { "slipway.dev/gateway": "gw" } },
      spec: { id: name, version, write: "w", value: "{}" },
    });
    mirror.listing();
    mirror.page([record("a", 7), record("gone", 3), record("mine", 4)]);
    mirror.listed();
    mirror.listing();
    mirror.wrote(record("mine", 5));
    mirror.page([record("a", 2), record("mine", 4)]);
    mirror.listed();
    expect([...mirror.values()].map(({ id, version }) => [id, version])).toEqual([
      ["a", 2],
      ["mine", 5],
    ]);
    // Of its own writes everybody here has heard.
    expect(heard).toEqual([
      ["a", 2],
      ["gone", 4],
    ]);
  });
});
