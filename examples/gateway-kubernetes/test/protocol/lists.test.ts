import { describe, expect, it } from "vitest";
import type { Body } from "./https.js";
import { IS_OWN, NEEDS_OWN, useTarget, type Room } from "./target.js";

const target = useTarget();

const names = (list: Body): string[] => list.items.map((item) => item.metadata.name);

async function fill(room: Room, count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    await room.make(`s${number}`, { metadata: { labels: { odd: String(number % 2) } } });
  }
}

describe("a list", () => {
  it("is in the order of names and carries the version from which a watch goes on", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    await room.make("b");
    await room.make("a");
    const { body } = await api.get(room.sandboxes);
    expect(body).toMatchObject({ kind: "SandboxList", apiVersion: "agents.x-k8s.io/v1beta1" });
    expect(names(body)).toEqual(["a", "b"]);
    expect(body.items[0]).toMatchObject({ kind: "Sandbox", apiVersion: "agents.x-k8s.io/v1beta1" });
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      Number(body.items[0]?.metadata.resourceVersion),
    );
  });

  it("of an empty namespace has an empty list of items", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    expect((await api.get(room.sandboxes)).body.items).toEqual([]);
  });

  it("selects by labels", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    await room.make("a", { metadata: { labels: { x: "1", "d.io/y": "2" } } });
    await room.make("b", { metadata: { labels: { x: "2" } } });
    await room.make("c");
    const selected = async (selector: string): Promise<string[]> =>
      names((await api.get(`${room.sandboxes}?labelSelector=${encodeURIComponent(selector)}`)).body);
    expect(await selected("x=1")).toEqual(["a"]);
    expect(await selected("x==1")).toEqual(["a"]);
    expect(await selected("x!=1")).toEqual(["b", "c"]);
    expect(await selected("x")).toEqual(["a", "b"]);
    expect(await selected("!x")).toEqual(["c"]);
    expect(await selected("x in (1, 2), d.io/y=2")).toEqual(["a"]);
    expect(await selected("x notin (1)")).toEqual(["b", "c"]);
    const bad = await api.get(`${room.sandboxes}?labelSelector=${encodeURIComponent("a b c")}`);
    expect(bad.code).toBe(400);
  });

  it("selects by name and namespace, and no other field", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    await room.make("a");
    await room.make("b");
    const selected = async (selector: string): Promise<Body> =>
      (await api.get(`${room.sandboxes}?fieldSelector=${encodeURIComponent(selector)}`)).body;
    expect(names(await selected("metadata.name=a"))).toEqual(["a"]);
    expect(names(await selected("metadata.name!=a"))).toEqual(["b"]);
    expect(names(await selected(`metadata.namespace=${room.namespace}`))).toEqual(["a", "b"]);
    expect(await selected("spec.operatingMode=Running")).toMatchObject({
      code: 400,
      message: "field label not supported: spec.operatingMode",
    });
  });

  it("across namespaces finds the objects of all", async () => {
    const { api } = target.current;
    const [one, two] = [await target.current.room(), await target.current.room()];
    await one.make("a");
    await two.make("a");
    const { body } = await api.get("/apis/agents.x-k8s.io/v1beta1/sandboxes");
    const found = body.items.map((item) => item.metadata.namespace);
    expect(found).toEqual(expect.arrayContaining([one.namespace, two.namespace]));
  });
});

describe("paging", () => {
  it("gives every object once, all from one version, whatever changes meanwhile", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    await fill(room, 5);
    const first = await api.get(`${room.sandboxes}?limit=2`);
    expect(names(first.body)).toEqual(["s1", "s2"]);
    expect(first.body.metadata.remainingItemCount).toBe(3);
    await api.delete(`${room.sandboxes}/s3`);
    await api.merge(`${room.sandboxes}/s4`, { metadata: { labels: { new: "1" } } });
    await room.make("s35");
    const page = async (token: string): Promise<Body> =>
      (await api.get(`${room.sandboxes}?limit=2&continue=${token}`)).body;
    const second = await page(first.body.metadata.continue ?? "");
    expect(names(second)).toEqual(["s3", "s4"]);
    expect(second.items[1]?.metadata.labels).toEqual({ odd: "0" });
    const third = await page(second.metadata.continue ?? "");
    expect(names(third)).toEqual(["s5"]);
    expect(third.metadata.continue || undefined).toBeUndefined();
    const versions = [first.body, second, third].map((list) => list.metadata.resourceVersion);
    expect(new Set(versions).size).toBe(1);
  });

  it("with a selector may end with an empty page", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    await fill(room, 4);
    const query = `${room.sandboxes}?limit=2&labelSelector=odd%3D1`;
    const first = await api.get(query);
    expect(names(first.body)).toEqual(["s1", "s3"]);
    expect(first.body.metadata.remainingItemCount).toBeUndefined();
    const second = await api.get(`${query}&continue=${first.body.metadata.continue}`);
    expect(second.body.items).toEqual([]);
    expect(second.body.metadata.continue || undefined).toBeUndefined();
  });

  it("takes no version beside a token, and no token that it did not give", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    await fill(room, 2);
    const { body } = await api.get(`${room.sandboxes}?limit=1`);
    const token = body.metadata.continue;
    const both = await api.get(`${room.sandboxes}?limit=1&continue=${token}&resourceVersion=5`);
    expect([both.code, both.body.message]).toEqual([
      400,
      "specifying resource version is not allowed when using continue",
    ]);
    expect((await api.get(`${room.sandboxes}?limit=1&continue=abc`)).code).toBe(400);
    expect((await api.get(`${room.sandboxes}?limit=x`)).code).toBe(400);
  });

  it.skipIf(!IS_OWN)(
    `with an expired token is 410, with a token to go on all the same${NEEDS_OWN}`,
    async () => {
      const { api, own } = target.current;
      const room = await target.current.room();
      await fill(room, 3);
      const first = await api.get(`${room.sandboxes}?limit=1`);
      await room.make("s11");
      await api.delete(`${room.sandboxes}/s2`);
      own.compact();
      const expired = await api.get(`${room.sandboxes}?limit=1&continue=${first.body.metadata.continue}`);
      expect([expired.code, expired.body.reason, expired.body.code]).toEqual([410, "Expired", 410]);
      const rest = await api.get(`${room.sandboxes}?continue=${expired.body.metadata.continue}`);
      expect(names(rest.body)).toEqual(["s11", "s3"]);
      expect(rest.body.metadata.resourceVersion).not.toBe(first.body.metadata.resourceVersion);
    },
  );
});

describe("a list at a version", () => {
  it("is exact, or not older, or any", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    const { metadata } = await room.make("a");
    await room.make("b");
    await room.make("c");
    const at = async (query: string): Promise<Body> => (await api.get(`${room.sandboxes}?${query}`)).body;
    const version = metadata.resourceVersion;
    const exact = await at(`resourceVersion=${version}&resourceVersionMatch=Exact`);
    expect([names(exact), exact.metadata.resourceVersion]).toEqual([["a"], version]);
    expect(names(await at(`resourceVersion=${version}&resourceVersionMatch=NotOlderThan`))).toEqual([
      "a",
      "b",
      "c",
    ]);
    expect(names(await at(`resourceVersion=${version}`))).toEqual(["a", "b", "c"]);
    // Any version will do: answered whole, without regard to the limit.
    expect(names(await at("resourceVersion=0&limit=1"))).toEqual(["a", "b", "c"]);
  });

  it("from the future is 504 with the advice to wait", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    const { code, body } = await api.get(`${room.sandboxes}?resourceVersion=999999999999`);
    expect([code, body.reason, body.details.retryAfterSeconds]).toEqual([504, "Timeout", 1]);
    expect(body.details.causes[0]?.reason).toBe("ResourceVersionTooLarge");
  });

  it.each([
    ["resourceVersion=abc", 400],
    ["resourceVersionMatch=Exact", 422],
    ["resourceVersionMatch=Exact&resourceVersion=0", 422],
    ["resourceVersionMatch=Some&resourceVersion=1", 422],
  ])("%s is %i", async (query, code) => {
    const { api } = target.current;
    const room = await target.current.room();
    expect((await api.get(`${room.sandboxes}?${query}`)).code).toBe(code);
  });

  it.skipIf(!IS_OWN)(`before the history is 410${NEEDS_OWN}`, async () => {
    const { api, own } = target.current;
    const room = await target.current.room();
    const { metadata } = await room.make("a");
    await room.make("b");
    own.compact();
    const query = `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`;
    const { code, body } = await api.get(`${room.sandboxes}?${query}`);
    expect([code, body.reason]).toEqual([410, "Expired"]);
  });
});
