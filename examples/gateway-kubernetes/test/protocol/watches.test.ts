import { describe, expect, it } from "vitest";
import type { WatchEvent, WatchReader } from "./https.js";
import { IS_OWN, NEEDS_OWN, useTarget } from "./target.js";

const target = useTarget();

/** The next event as [type, name, version]. */
async function told(watch: WatchReader): Promise<unknown[]> {
  const event = await watch.next();
  if (event === null) return ["end"];
  return [event.type, event.object.metadata.name, event.object.metadata.resourceVersion];
}

async function take(watch: WatchReader, count: number): Promise<(WatchEvent | null)[]> {
  const events: (WatchEvent | null)[] = [];
  for (let number = 0; number < count; number += 1) events.push(await watch.next());
  return events;
}

describe("a watch", () => {
  it("goes on from the version of a list: added, modified, deleted, each with its own version", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    await room.make("old");
    const { body } = await api.get(room.sandboxes);
    using watch = await api.watch(
      `${room.sandboxes}?watch=1&resourceVersion=${body.metadata.resourceVersion}`,
    );
    expect(watch.code).toBe(200);
    const made = await room.make("a");
    const changed = await api.merge(`${room.sandboxes}/a`, { metadata: { labels: { a: "b" } } });
    await api.delete(`${room.sandboxes}/a`);
    const [added, modified, deleted] = await take(watch, 3);
    expect(added).toEqual({ type: "ADDED", object: made });
    expect(modified).toEqual({ type: "MODIFIED", object: changed.body });
    expect(deleted?.type).toBe("DELETED");
    const last = deleted?.object.metadata.resourceVersion ?? "";
    expect(Number(last)).toBeGreaterThan(Number(changed.body.metadata.resourceVersion));
    expect(deleted?.object).toEqual({
      ...changed.body,
      metadata: { ...changed.body.metadata, resourceVersion: last },
    });
  });

  it("resumes behind any event without loss or repetition", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    const first = await room.make("a");
    const second = await room.make("b");
    const third = await room.make("c");
    const version = (object: typeof first): string => object.metadata.resourceVersion;
    using watch = await api.watch(`${room.sandboxes}?watch=true&resourceVersion=${version(first)}`);
    expect(await told(watch)).toEqual(["ADDED", "b", version(second)]);
    expect(await told(watch)).toEqual(["ADDED", "c", version(third)]);
    using again = await api.watch(`${room.sandboxes}?watch=true&resourceVersion=${version(second)}`);
    expect(await told(again)).toEqual(["ADDED", "c", version(third)]);
  });

  it.each(["", "&resourceVersion=0"])("without a version (%s) begins with what is there", async (query) => {
    const { api } = target.current;
    const room = await target.current.room();
    await room.make("a");
    await room.make("b");
    using watch = await api.watch(`${room.sandboxes}?watch=1${query}`);
    expect((await told(watch)).slice(0, 2)).toEqual(["ADDED", "a"]);
    expect((await told(watch)).slice(0, 2)).toEqual(["ADDED", "b"]);
    await room.make("c");
    expect((await told(watch)).slice(0, 2)).toEqual(["ADDED", "c"]);
  });

  it("tells entering and leaving of a selection as added and deleted", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    const made = await room.make("a", { metadata: { labels: { in: "yes" } } });
    await room.make("b");
    const from = made.metadata.resourceVersion;
    using watch = await api.watch(`${room.sandboxes}?watch=1&labelSelector=in%3Dyes&resourceVersion=${from}`);
    const entered = await api.merge(`${room.sandboxes}/b`, { metadata: { labels: { in: "yes" } } });
    const left = await api.merge(`${room.sandboxes}/a`, { metadata: { labels: { in: "no" } } });
    const [added, deleted] = await take(watch, 2);
    expect(added).toEqual({ type: "ADDED", object: entered.body });
    expect(deleted?.type).toBe("DELETED");
    expect(deleted?.object.metadata).toMatchObject({
      name: "a",
      // The last state that matched, with the version of the write that took it out.
      labels: { in: "yes" },
      resourceVersion: left.body.metadata.resourceVersion,
    });
  });

  it("selects one object by its name", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    using watch = await api.watch(`${room.sandboxes}?watch=1&fieldSelector=metadata.name%3Db`);
    await room.make("a");
    await room.make("b");
    expect((await told(watch)).slice(0, 2)).toEqual(["ADDED", "b"]);
  });

  it("ends in good order after timeoutSeconds", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    await room.make("a");
    using watch = await api.watch(`${room.sandboxes}?watch=1&timeoutSeconds=1`);
    expect((await told(watch)).slice(0, 2)).toEqual(["ADDED", "a"]);
    expect(await told(watch)).toEqual(["end"]);
  });

  it("across namespaces sees all of them, and a status write as well", async () => {
    const { api } = target.current;
    const [one, two] = [await target.current.room(), await target.current.room()];
    const made = await one.make("a");
    const from = made.metadata.resourceVersion;
    using watch = await api.watch(`/apis/agents.x-k8s.io/v1beta1/sandboxes?watch=1&resourceVersion=${from}`);
    await two.make("b");
    await api.merge(`${one.sandboxes}/a/status`, { status: { nodeName: "n" } });
    const [first, second] = await take(watch, 2);
    expect(first?.object.metadata).toMatchObject({ name: "b", namespace: two.namespace });
    expect(second).toMatchObject({ type: "MODIFIED", object: { status: { nodeName: "n" } } });
  });
});

describe("a streamed list", () => {
  const INITIAL = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

  it("ends its initial events with a marked bookmark and goes on", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    await room.make("a");
    const last = await room.make("b");
    using watch = await api.watch(`${room.sandboxes}?watch=1&${INITIAL}`);
    expect((await told(watch)).slice(0, 2)).toEqual(["ADDED", "a"]);
    expect((await told(watch)).slice(0, 2)).toEqual(["ADDED", "b"]);
    const mark = await watch.next();
    expect(mark?.type).toBe("BOOKMARK");
    expect(mark?.object).toMatchObject({ kind: "Sandbox", apiVersion: "agents.x-k8s.io/v1beta1" });
    expect(mark?.object.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
    expect(Number(mark?.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      Number(last.metadata.resourceVersion),
    );
    await room.make("c");
    expect((await told(watch)).slice(0, 2)).toEqual(["ADDED", "c"]);
  });

  it("switched off sends nothing of what is there", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    await room.make("a");
    const query = INITIAL.replace("true", "false");
    using watch = await api.watch(`${room.sandboxes}?watch=1&${query}`);
    await room.make("b");
    expect((await told(watch)).slice(0, 2)).toEqual(["ADDED", "b"]);
  });

  it.each([
    ["sendInitialEvents=true&allowWatchBookmarks=true", 422],
    ["resourceVersionMatch=NotOlderThan", 422],
    ["resourceVersion=abc", 500],
  ])("%s is %i before any event", async (query, code) => {
    const { api } = target.current;
    const room = await target.current.room();
    expect((await api.get(`${room.sandboxes}?watch=1&${query}`)).code).toBe(code);
  });
});

describe("history", () => {
  it("before its beginning is HTTP 200 and one ERROR event with 410 Expired", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    await room.make("a");
    using watch = await api.watch(`${room.sandboxes}?watch=1&resourceVersion=1`);
    expect(watch.code).toBe(200);
    const event = await watch.next();
    expect(event?.type).toBe("ERROR");
    expect(event?.object).toMatchObject({ kind: "Status", status: "Failure", reason: "Expired", code: 410 });
    expect(await watch.next()).toBeNull();
  });

  it.skipIf(!IS_OWN)(
    `that was compacted is gone for a new watch, not for one that is open${NEEDS_OWN}`,
    async () => {
      const { api, own } = target.current;
      const room = await target.current.room();
      const made = await room.make("a");
      const from = `${room.sandboxes}?watch=1&resourceVersion=${made.metadata.resourceVersion}`;
      using open = await api.watch(from);
      await room.make("b");
      own.compact();
      using late = await api.watch(from);
      expect(await late.next()).toMatchObject({ type: "ERROR", object: { code: 410 } });
      expect((await told(open)).slice(0, 2)).toEqual(["ADDED", "b"]);
      await room.make("c");
      expect((await told(open)).slice(0, 2)).toEqual(["ADDED", "c"]);
    },
  );

  it.skipIf(!IS_OWN)(`survives compaction for whoever had a bookmark since${NEEDS_OWN}`, async () => {
    const { api, own } = target.current;
    const [room, busy] = [await target.current.room(), await target.current.room()];
    const made = await room.make("a");
    const from = made.metadata.resourceVersion;
    using watch = await api.watch(
      `${room.sandboxes}?watch=1&allowWatchBookmarks=true&resourceVersion=${from}`,
    );
    using without = await api.watch(`${room.sandboxes}?watch=1&resourceVersion=${from}`);
    const other = await busy.make("elsewhere");
    own.bookmark();
    const mark = await watch.next();
    expect(mark).toMatchObject({ type: "BOOKMARK", object: { kind: "Sandbox" } });
    expect(Object.keys(mark?.object as object).sort()).toEqual(["apiVersion", "kind", "metadata"]);
    const marked = mark?.object.metadata.resourceVersion;
    expect(Number(marked)).toBeGreaterThanOrEqual(Number(other.metadata.resourceVersion));
    own.compact();
    using resumed = await api.watch(`${room.sandboxes}?watch=1&resourceVersion=${marked}`);
    await room.make("b");
    expect((await told(resumed)).slice(0, 2)).toEqual(["ADDED", "b"]);
    // Who did not ask for bookmarks got none.
    expect((await told(without)).slice(0, 2)).toEqual(["ADDED", "b"]);
  });
});
