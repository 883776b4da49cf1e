import { describe, expect, it } from "vitest";
import { at } from "../apiserver/object.js";
import { useTarget } from "./target.js";

const target = useTarget();
const JSON_PATCH = { type: "application/json-patch+json" };

describe("a merge patch", () => {
  it("merges maps, replaces lists and removes with null", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    await make("a", { metadata: { labels: { keep: "1", drop: "2" }, annotations: { a: "b" } } });
    const reply = await api.merge(`${sandboxes}/a`, {
      metadata: { labels: { drop: null, add: "3" }, annotations: null },
      spec: { podTemplate: { spec: { containers: [{ name: "other" }] } } },
    });
    expect(reply.code).toBe(200);
    expect(reply.body.metadata.labels).toEqual({ keep: "1", add: "3" });
    expect(reply.body.metadata.annotations).toBeUndefined();
    expect(at(reply.body.spec, "podTemplate.spec.containers")).toEqual([{ name: "other" }]);
    expect(reply.body.metadata.generation).toBe(2);
  });

  it("with the version that it was decided on conflicts as an update does", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    const made = await make("a");
    const { resourceVersion, uid } = made.metadata;
    const first = await api.merge(`${sandboxes}/a`, {
      metadata: { resourceVersion, uid, labels: { a: "1" } },
    });
    expect(first.code).toBe(200);
    const second = await api.merge(`${sandboxes}/a`, {
      metadata: { resourceVersion, uid, labels: { a: "2" } },
    });
    expect([second.code, second.body.reason]).toEqual([409, "Conflict"]);
    expect((await api.get(`${sandboxes}/a`)).body.metadata.labels).toEqual({ a: "1" });
    const status = await api.merge(`${sandboxes}/a/status`, {
      metadata: { resourceVersion },
      status: { nodeName: "n" },
    });
    expect(status.code).toBe(409);
  });

  it("of another uid is 422, of another name 400, without version where one was removed 422", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    await make("a");
    const other = await api.merge(`${sandboxes}/a`, { metadata: { uid: "other" } });
    expect([other.code, other.body.details.causes[0]?.field]).toEqual([422, "metadata.uid"]);
    expect((await api.merge(`${sandboxes}/a`, { metadata: { name: "b" } })).code).toBe(400);
    expect((await api.merge(`${sandboxes}/a`, { metadata: { resourceVersion: null } })).code).toBe(422);
    expect((await api.merge(`${sandboxes}/a`, { metadata: { resourceVersion: "x" } })).code).toBe(500);
    const deleted = { metadata: { deletionTimestamp: "2001-01-01T00:00:00Z" } };
    expect((await api.merge(`${sandboxes}/a`, deleted)).code).toBe(422);
  });

  it("that is no object is 400, one that breaks the metadata 422, one of what is missing 404", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    await make("a");
    expect((await api.merge(`${sandboxes}/a`, [])).code).toBe(400);
    expect((await api.merge(`${sandboxes}/a`, "x")).code).toBe(400);
    expect((await api.merge(`${sandboxes}/a`, { metadata: { labels: { a: 5 } } })).code).toBe(422);
    expect((await api.merge(`${sandboxes}/a`, { metadata: "x" })).code).toBe(422);
    expect((await api.merge(`${sandboxes}/none`, {})).code).toBe(404);
  });

  it("that changes nothing keeps the version", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    const made = await make("a", { metadata: { labels: { a: "1" } } });
    for (const patch of [{}, { metadata: { labels: { a: "1" } } }, { metadata: { annotations: {} } }]) {
      const reply = await api.merge(`${sandboxes}/a`, patch);
      expect(reply.body.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    }
  });
});

describe("a JSON patch", () => {
  it("adds, replaces, removes, moves, copies and tests", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    await make("a", { metadata: { labels: { one: "1", "x/y": "2", gone: "3" } } });
    const patch = [
      { op: "test", path: "/metadata/labels/one", value: "1" },
      { op: "replace", path: "/metadata/labels/one", value: "11" },
      { op: "copy", from: "/metadata/labels/x~1y", path: "/metadata/labels/copied" },
      { op: "move", from: "/metadata/labels/x~1y", path: "/metadata/labels/moved" },
      { op: "remove", path: "/metadata/labels/gone" },
      { op: "add", path: "/spec/podTemplate/spec/containers/-", value: { name: "second" } },
    ];
    const reply = await api.send("PATCH", `${sandboxes}/a`, patch, JSON_PATCH);
    expect(reply.code).toBe(200);
    expect(reply.body.metadata.labels).toEqual({ one: "11", copied: "2", moved: "2" });
    expect(at(reply.body.spec, "podTemplate.spec.containers")).toHaveLength(2);
  });

  it("whose test fails or whose place is missing is 422 and changes nothing", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    const made = await make("a");
    const label = { op: "add", path: "/metadata/labels", value: { a: "b" } };
    for (const operation of [
      { op: "test", path: "/spec/operatingMode", value: "Suspended" },
      { op: "test", path: "/metadata/resourceVersion", value: "1" },
      { op: "remove", path: "/spec/nothing" },
      { op: "replace", path: "/spec/nothing/deeper", value: 1 },
      { op: "add", path: "/metadata/annotations/a", value: "b" },
    ]) {
      const reply = await api.send("PATCH", `${sandboxes}/a`, [label, operation], JSON_PATCH);
      expect([reply.code, reply.body.reason], JSON.stringify(operation)).toEqual([422, "Invalid"]);
    }
    expect((await api.get(`${sandboxes}/a`)).body).toEqual(made);
  });

  it("that is malformed is 400", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    await make("a");
    const path = "/spec";
    for (const patch of [{}, [{ op: "fly", path }]]) {
      expect((await api.send("PATCH", `${sandboxes}/a`, patch, JSON_PATCH)).code).toBe(400);
    }
  });
});

describe("another patch type", () => {
  it.each(["application/json", "application/strategic-merge-patch+json", "text/plain"])(
    "%s is 415",
    async (type) => {
      const { api } = target.current;
      const { make, sandboxes } = await target.current.room();
      await make("a");
      const reply = await api.send("PATCH", `${sandboxes}/a`, {}, { type });
      expect([reply.code, reply.body.reason]).toEqual([415, "UnsupportedMediaType"]);
    },
  );
});
