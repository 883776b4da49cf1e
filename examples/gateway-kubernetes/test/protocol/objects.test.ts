import { describe, expect, it } from "vitest";
import { without } from "../apiserver/object.js";
import { sandbox, useTarget } from "./target.js";

const target = useTarget();

const MODIFIED =
  "the object has been modified; please apply your changes to the latest version and try again";

describe("creation", () => {
  it("gives identity, version, generation 1 and defaults, and the same is read back", async () => {
    const { api } = target.current;
    const { make, sandboxes, namespace } = await target.current.room();
    const made = await make("a");
    expect(made.metadata).toMatchObject({ name: "a", namespace, generation: 1 });
    expect(made.metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(made.spec).toMatchObject({ operatingMode: "Running", shutdownPolicy: "Retain" });
    const read = await api.get(`${sandboxes}/a`);
    expect(read.code).toBe(200);
    expect(read.body).toEqual(made);
  });

  it("makes a name from generateName, a new one each time", async () => {
    const { api } = target.current;
    const { sandboxes } = await target.current.room();
    const body = sandbox("", { metadata: { generateName: "gen-" } });
    const [one, two] = [await api.post(sandboxes, body), await api.post(sandboxes, body)];
    expect(one.body.metadata.name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(two.body.metadata.name).not.toBe(one.body.metadata.name);
  });

  it("of what exists is 409 AlreadyExists", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    await make("a");
    const again = await api.post(sandboxes, sandbox("a"));
    expect(again.code).toBe(409);
    expect(again.body).toMatchObject({
      kind: "Status",
      status: "Failure",
      reason: "AlreadyExists",
      message: 'sandboxes.agents.x-k8s.io "a" already exists',
      details: { name: "a", group: "agents.x-k8s.io", kind: "sandboxes" },
      code: 409,
    });
  });

  it("takes no status and no version, and keeps what only the server sets", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    const made = await make("a", {
      metadata: { uid: "mine", generation: 9, creationTimestamp: "2001-01-01T00:00:00Z" },
      status: { service: "x" },
    });
    expect(made.status).toBeUndefined();
    expect(made.metadata.uid).not.toBe("mine");
    expect(made.metadata.generation).toBe(1);
    expect(made.metadata.creationTimestamp).not.toBe("2001-01-01T00:00:00Z");
    const versioned = await api.post(sandboxes, sandbox("b", { metadata: { resourceVersion: "5" } }));
    expect(versioned.code).toBe(500);
    expect(versioned.body.message).toBe("resourceVersion should not be set on objects to be created");
  });

  it("with dryRun checks and answers, but leaves nothing", async () => {
    const { api } = target.current;
    const { sandboxes } = await target.current.room();
    const reply = await api.post(`${sandboxes}?dryRun=All`, sandbox("a"));
    expect(reply.code).toBe(201);
    expect((await api.get(`${sandboxes}/a`)).code).toBe(404);
  });
});

describe("refusals", () => {
  it.each([
    ["no name", {}, "", 422, "Invalid"],
    ["a bad name", {}, "A_b", 422, "Invalid"],
    ["another namespace", { metadata: { namespace: "other" } }, "a", 400, "BadRequest"],
    ["a label with a space", { metadata: { labels: { "a b": "c" } } }, "a", 422, "Invalid"],
    ["a long label", { metadata: { labels: { a: "x".repeat(64) } } }, "a", 422, "Invalid"],
    ["a bad finalizer", { metadata: { finalizers: ["a b"] } }, "a", 422, "Invalid"],
    ["a half owner", { metadata: { ownerReferences: [{ apiVersion: "v1" }] } }, "a", 422, "Invalid"],
    ["a value outside the enumeration", { spec: { operatingMode: "Paused" } }, "a", 422, "Invalid"],
    ["a wrong type", { spec: { service: "yes" } }, "a", 422, "Invalid"],
    ["a broken instant", { spec: { shutdownTime: "soon" } }, "a", 422, "Invalid"],
    [
      "annotations over 256 KiB",
      { metadata: { annotations: { a: "x".repeat(262_144) } } },
      "a",
      422,
      "Invalid",
    ],
  ])("%s", async (_what, more, name, code, reason) => {
    const { api } = target.current;
    const { sandboxes } = await target.current.room();
    const reply = await api.post(sandboxes, sandbox(name, more));
    expect([reply.code, reply.body.reason, reply.body.code], reply.body.message).toEqual([
      code,
      reason,
      code,
    ]);
  });

  it("names every cause of a 422 with its field", async () => {
    const { api } = target.current;
    const { sandboxes } = await target.current.room();
    const reply = await api.post(sandboxes, sandbox("a", { spec: { operatingMode: "Paused", service: 5 } }));
    expect(reply.body.details).toMatchObject({ name: "a", group: "agents.x-k8s.io", kind: "Sandbox" });
    const fields = reply.body.details.causes.map((cause) => cause.field);
    expect(fields.sort()).toEqual(["spec.operatingMode", "spec.service"]);
    const missing = await api.post(sandboxes, { ...sandbox("a"), spec: {} });
    expect(missing.body.details.causes).toEqual([
      { reason: "FieldValueRequired", message: "Required value", field: "spec.podTemplate" },
    ]);
  });

  it("wants kind and version of the path", async () => {
    const { api } = target.current;
    const { sandboxes } = await target.current.room();
    const without = await api.post(sandboxes, {
      apiVersion: "agents.x-k8s.io/v1beta1",
      metadata: { name: "a" },
    });
    expect(without.code).toBe(400);
    expect(without.body.message).toContain("Object 'Kind' is missing");
    expect((await api.post(sandboxes, { ...sandbox("a"), apiVersion: "agents.x-k8s.io/v1" })).code).toBe(400);
    expect((await api.post(sandboxes, { ...sandbox("a"), kind: "Other" })).code).toBe(422);
  });

  it("of an unknown object is a Status, of an unknown path it is text", async () => {
    const { api } = target.current;
    const { sandboxes, namespace } = await target.current.room();
    const missing = await api.get(`${sandboxes}/none`);
    expect(missing.code).toBe(404);
    expect(missing.body).toMatchObject({
      reason: "NotFound",
      message: 'sandboxes.agents.x-k8s.io "none" not found',
      details: { name: "none", group: "agents.x-k8s.io", kind: "sandboxes" },
    });
    const path = await api.get(`/apis/agents.x-k8s.io/v1beta1/namespaces/${namespace}/nothings`);
    expect(path.code).toBe(404);
    expect(path.body).toBe("404 page not found\n");
  });

  it("of an unknown field is a warning, or an error where the client asks for one", async () => {
    const { api } = target.current;
    const { sandboxes } = await target.current.room();
    const body = sandbox("a", { spec: { colour: "red" } });
    const strict = await api.post(`${sandboxes}?fieldValidation=Strict`, body);
    expect(strict.code).toBe(400);
    expect(strict.body.message).toContain('strict decoding error: unknown field "spec.colour"');
    const warned = await api.post(sandboxes, body);
    expect(warned.code).toBe(201);
    expect(warned.headers["warning"]).toBe('299 - "unknown field \\"spec.colour\\""');
    expect(warned.body.spec["colour"]).toBeUndefined();
  });

  it("of an object over 1.5 MiB is the storage's own, of a body over 3 MiB the server's", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    await make("a");
    const grow = (size: number, letter = "x"): object => ({
      spec: { podTemplate: { spec: { filler: letter.repeat(size) } } },
    });
    expect((await api.merge(`${sandboxes}/a`, grow(1_600_000))).code).toBe(500);
    expect((await api.merge(`${sandboxes}/a`, grow(3_200_000))).code).toBe(413);
    // It counts as it is stored, where an angle bracket takes six bytes.
    expect((await api.merge(`${sandboxes}/a`, grow(270_000, "<"))).code).toBe(500);
    expect((await api.merge(`${sandboxes}/a`, grow(240_000, "<"))).code).toBe(200);
  });
});

describe("update", () => {
  it("raises version and generation with the spec, the version alone with metadata, and neither with nothing", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    const made = await make("a");
    const spec = { ...made.spec, operatingMode: "Suspended" };
    const changed = await api.put(`${sandboxes}/a`, { ...made, spec });
    expect(changed.code).toBe(200);
    expect(changed.body.metadata.generation).toBe(2);
    expect(changed.body.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion);

    const metadata = { ...changed.body.metadata, labels: { a: "b" } };
    const labelled = await api.put(`${sandboxes}/a`, { ...changed.body, metadata });
    expect(labelled.body.metadata.generation).toBe(2);
    expect(labelled.body.metadata.resourceVersion).not.toBe(changed.body.metadata.resourceVersion);

    const same = await api.put(`${sandboxes}/a`, labelled.body);
    expect(same.code).toBe(200);
    expect(same.body.metadata.resourceVersion).toBe(labelled.body.metadata.resourceVersion);
  });

  it("on a stale version is 409 Conflict and changes nothing", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    const made = await make("a");
    await api.merge(`${sandboxes}/a`, { metadata: { labels: { winner: "yes" } } });
    const loser = { ...made, metadata: { ...made.metadata, labels: { winner: "no" } } };
    const refused = await api.put(`${sandboxes}/a`, loser);
    expect(refused.code).toBe(409);
    expect(refused.body).toMatchObject({
      reason: "Conflict",
      message: `Operation cannot be fulfilled on sandboxes.agents.x-k8s.io "a": ${MODIFIED}`,
      details: { name: "a", group: "agents.x-k8s.io", kind: "sandboxes" },
    });
    expect((await api.get(`${sandboxes}/a`)).body.metadata.labels).toEqual({ winner: "yes" });
  });

  it("lets one of many win that were decided on the same version", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    const made = await make("a");
    const attempts = Array.from({ length: 12 }, (_, number) => {
      const metadata = { ...made.metadata, labels: { number: String(number) } };
      return api.put(`${sandboxes}/a`, { ...made, metadata });
    });
    const codes = (await Promise.all(attempts)).map((reply) => reply.code);
    expect(codes.filter((code) => code === 200)).toHaveLength(1);
    expect(codes.filter((code) => code === 409)).toHaveLength(11);
  });

  it("wants a version, an existing object, its own name and its own uid", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    const made = await make("a");
    const versionless = without(made.metadata, "resourceVersion");
    const versioned = await api.put(`${sandboxes}/a`, { ...made, metadata: versionless });
    expect([versioned.code, versioned.body.message]).toEqual([
      422,
      'sandboxes.agents.x-k8s.io "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ]);
    expect((await api.put(`${sandboxes}/b`, made)).code).toBe(400);
    expect(
      (await api.put(`${sandboxes}/b`, { ...made, metadata: { ...made.metadata, name: "b" } })).code,
    ).toBe(404);
    const junk = await api.put(`${sandboxes}/a`, {
      ...made,
      metadata: { ...made.metadata, resourceVersion: "x" },
    });
    expect(junk.code).toBe(500);
    const other = await api.put(`${sandboxes}/a`, { ...made, metadata: { ...made.metadata, uid: "other" } });
    expect([other.code, other.body.reason]).toEqual([409, "Conflict"]);
    expect(other.body.message).toContain("Precondition failed: UID in precondition: other");
  });

  it("of a successor by its predecessor's uid is refused", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    const first = await make("a");
    await api.delete(`${sandboxes}/a`);
    const second = await make("a");
    const metadata = { ...first.metadata, resourceVersion: second.metadata.resourceVersion };
    expect((await api.put(`${sandboxes}/a`, { ...first, metadata })).code).toBe(409);
  });
});
