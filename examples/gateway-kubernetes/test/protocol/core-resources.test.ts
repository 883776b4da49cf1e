import { describe, expect, it } from "vitest";
import { at } from "../apiserver/object.js";
import { CRDS, freshName, HAS_CORE, IS_OWN, NEEDS_CORE, NEEDS_OWN, useTarget } from "./target.js";

const target = useTarget();

const POD = { spec: { containers: [{ name: "main", image: "busybox" }] } };

async function core(plural: string): Promise<string> {
  const { namespace } = await target.current.room();
  return `/api/v1/namespaces/${namespace}/${plural}`;
}

describe.skipIf(!HAS_CORE)(`typed resources${NEEDS_CORE}`, () => {
  it("take kind and version from the path, and leave them out of list items", async () => {
    const { api } = target.current;
    const maps = await core("configmaps");
    const made = await api.post(maps, { metadata: { name: "a" }, data: { x: "1" } });
    expect(made.body).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", data: { x: "1" } });
    expect(made.body.metadata.generation).toBeUndefined();
    const list = await api.get(`${maps}?fieldSelector=metadata.name%3Da`);
    expect(list.body.kind).toBe("ConfigMapList");
    expect(list.body.items[0]).not.toHaveProperty("kind");
  });

  it("can be updated without a version, unlike leases", async () => {
    const { api } = target.current;
    const maps = await core("configmaps");
    await api.post(maps, { metadata: { name: "a" }, data: { x: "1" } });
    const blind = await api.put(`${maps}/a`, { metadata: { name: "a" }, data: { x: "2" } });
    expect([blind.code, blind.body.data]).toEqual([200, { x: "2" }]);

    const { namespace } = await target.current.room();
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const lease = { metadata: { name: "a" }, spec: { holderIdentity: "one", leaseDurationSeconds: 15 } };
    const made = await api.put(`${leases}/a`, lease);
    expect(made.code).toBe(201);
    expect((await api.put(`${leases}/a`, lease)).code).toBe(422);
    const renewed = { ...made.body, spec: { ...made.body.spec, holderIdentity: "two" } };
    expect((await api.put(`${leases}/a`, renewed)).code).toBe(200);
    expect((await api.put(`${leases}/a`, renewed)).code).toBe(409);
    expect(
      (await api.put(`${leases}/b`, { metadata: { name: "b" }, spec: { leaseDurationSeconds: 0 } })).code,
    ).toBe(422);
  });

  it("keep immutable data, and fold stringData into data", async () => {
    const { api } = target.current;
    const secrets = await core("secrets");
    const made = await api.post(secrets, {
      metadata: { name: "a" },
      stringData: { token: "open" },
      immutable: true,
    });
    expect(made.body).toMatchObject({
      type: "Opaque",
      data: { token: Buffer.from("open").toString("base64") },
    });
    expect(made.body).not.toHaveProperty("stringData");
    expect((await api.merge(`${secrets}/a`, { data: { token: "eA==" } })).code).toBe(422);
    expect((await api.merge(`${secrets}/a`, { metadata: { labels: { a: "b" } } })).code).toBe(200);
  });

  it("want finalizers with a domain", async () => {
    const { api } = target.current;
    const maps = await core("configmaps");
    expect((await api.post(maps, { metadata: { name: "a", finalizers: ["hold"] } })).code).toBe(422);
  });

  it("in a namespace that is not there are 404", async () => {
    const { api } = target.current;
    const reply = await api.post("/api/v1/namespaces/nowhere/configmaps", { metadata: { name: "a" } });
    expect([reply.code, reply.body.message]).toEqual([404, 'namespaces "nowhere" not found']);
  });
});

describe.skipIf(!HAS_CORE)(`namespaces${NEEDS_CORE}`, () => {
  it("empty themselves before they go, and take nothing new meanwhile", async () => {
    const { api } = target.current;
    const { namespace } = await target.current.room();
    const path = `/api/v1/namespaces/${namespace}`;
    await api.post(`${path}/configmaps`, { metadata: { name: "held", finalizers: ["slipway.test/hold"] } });
    await api.post(`${path}/configmaps`, { metadata: { name: "free" } });
    const deleted = await api.delete(path);
    expect([deleted.code, at(deleted.body, "status.phase")]).toEqual([200, "Terminating"]);
    while ((await api.get(`${path}/configmaps/free`)).code !== 404);
    const late = await api.post(`${path}/configmaps`, { metadata: { name: "late" } });
    expect([late.code, late.body.details.causes[0]?.reason]).toEqual([403, "NamespaceTerminating"]);
    await api.merge(`${path}/configmaps/held`, { metadata: { finalizers: null } });
    while ((await api.get(path)).code !== 404);
  });
});

describe.skipIf(!IS_OWN)(`pods${NEEDS_OWN}`, () => {
  it("begin Pending, with their defaults, and keep their spec", async () => {
    const { api } = target.current;
    const pods = await core("pods");
    const { code, body } = await api.post(pods, { metadata: { name: "a" }, ...POD });
    expect(code).toBe(201);
    expect(body).toMatchObject({
      metadata: { generation: 1 },
      spec: { restartPolicy: "Always", terminationGracePeriodSeconds: 30 },
      status: { phase: "Pending" },
    });
    expect((await api.merge(`${pods}/a`, { spec: { restartPolicy: "Never" } })).code).toBe(422);
    const image = [{ op: "replace", path: "/spec/containers/0/image", value: "other" }];
    const changed = await api.send("PATCH", `${pods}/a`, image, { type: "application/json-patch+json" });
    expect([changed.code, changed.body.metadata.generation]).toEqual([200, 2]);
    expect((await api.post(pods, { metadata: { name: "b" }, spec: {} })).code).toBe(422);
  });

  it("take labels through their status, but no owners and no spec", async () => {
    const { api } = target.current;
    const pods = await core("pods");
    await api.post(pods, { metadata: { name: "a" }, ...POD });
    const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "y" }];
    const reply = await api.merge(`${pods}/a/status`, {
      metadata: { labels: { a: "b" }, ownerReferences },
      spec: { nodeName: "n" },
      status: { phase: "Running" },
    });
    expect(reply.body.metadata.labels).toEqual({ a: "b" });
    expect(reply.body.metadata.ownerReferences).toBeUndefined();
    expect(reply.body.spec).not.toHaveProperty("nodeName");
    expect(at(reply.body, "status.phase")).toBe("Running");
    const selected = await api.get(`${pods}?fieldSelector=status.phase%3DRunning`);
    expect(selected.body.items).toHaveLength(1);
  });

  it("that no node has go at once; on a node they have their grace, which may only get shorter", async () => {
    const { api, own } = target.current;
    const pods = await core("pods");
    await api.post(pods, { metadata: { name: "free" }, ...POD });
    const free = await api.delete(`${pods}/free`);
    expect([free.code, free.body.kind]).toEqual([200, "Pod"]);
    expect((await api.get(`${pods}/free`)).code).toBe(404);

    const made = await api.post(pods, { metadata: { name: "bound" }, ...POD });
    const place = {
      resource: own.registry.stored("pods"),
      namespace: made.body.metadata.namespace,
      name: "bound",
    };
    own.registry.force(place, (pod) => {
      pod.spec = { ...pod.spec, nodeName: "n" };
    });
    const first = await api.delete(`${pods}/bound`);
    expect(first.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 30, generation: 2 });
    const begun = Date.parse(first.body.metadata.deletionTimestamp ?? "") - 30_000;
    const longer = await api.delete(`${pods}/bound`, { gracePeriodSeconds: 60 });
    expect(longer.body.metadata.deletionGracePeriodSeconds).toBe(30);
    const shorter = await api.delete(`${pods}/bound`, { gracePeriodSeconds: 5 });
    expect(shorter.body.metadata.deletionGracePeriodSeconds).toBe(5);
    expect(Date.parse(shorter.body.metadata.deletionTimestamp ?? "")).toBe(begun + 5_000);
    const forced = await api.delete(`${pods}/bound`, {
      gracePeriodSeconds: 0,
      preconditions: { uid: made.body.metadata.uid },
    });
    expect(forced.code).toBe(200);
    expect((await api.get(`${pods}/bound`)).code).toBe(404);
  });
});

describe("custom resource definitions", () => {
  it("bring a resource of their own, and take it away", async () => {
    const { api } = target.current;
    const group = `${freshName("g")}.slipway.test`;
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    const versions = [{ name: "v1", served: true, storage: true, schema }];
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `records.${group}` },
      spec: { group, scope: "Namespaced", names: { plural: "records", kind: "Record" }, versions },
    };
    const made = await api.post(CRDS, definition);
    expect(made.code, made.body.message).toBe(201);
    const established = async (): Promise<boolean> => {
      const { body } = await api.get(`${CRDS}/records.${group}`);
      const conditions = (at(body, "status.conditions") ?? []) as { type: string; status: string }[];
      return conditions.some((one) => one.type === "Established" && one.status === "True");
    };
    while (!(await established()));
    const { namespace } = await target.current.room();
    const records = `/apis/${group}/v1/namespaces/${namespace}/records`;
    const record = { apiVersion: `${group}/v1`, kind: "Record", metadata: { name: "a" }, phase: "Ready" };
    // Established may be a moment before served.
    let reply = await api.post(records, record);
    while (reply.code === 404) reply = await api.post(records, record);
    expect(reply.code).toBe(201);
    expect(reply.body).toMatchObject({ phase: "Ready", metadata: { generation: 1 } });
    // Without a status subresource a status is a field as any other.
    const status = await api.merge(`${records}/a`, { status: { x: 1 } });
    expect(status.body).toMatchObject({ status: { x: 1 }, metadata: { generation: 2 } });
    expect((await api.get(`${records}/a/status`)).code).toBe(404);
    await api.delete(`${records}/a`);
    expect((await api.delete(`${CRDS}/records.${group}`)).code).toBe(200);
    while ((await api.get(records)).code !== 404);
  });

  it("without a stored version or a schema are refused", async () => {
    const { api } = target.current;
    const group = `${freshName("g")}.slipway.test`;
    const spec = { group, scope: "Namespaced", names: { plural: "records", kind: "Record" } };
    const base = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `records.${group}` },
    };
    const version = {
      name: "v1",
      served: true,
      storage: false,
      schema: { openAPIV3Schema: { type: "object" } },
    };
    expect((await api.post(CRDS, { ...base, spec: { ...spec, versions: [version] } })).code).toBe(422);
    const bare = { name: "v1", served: true, storage: true };
    expect((await api.post(CRDS, { ...base, spec: { ...spec, versions: [bare] } })).code).toBe(422);
  });
});

describe.skipIf(!IS_OWN)(`two versions of one resource${NEEDS_OWN}`, () => {
  it("are views of one object with one version", async () => {
    const { api } = target.current;
    const { make, sandboxes, alpha } = await target.current.room();
    const made = await make("a", { spec: { operatingMode: "Suspended" } });
    const read = await api.get(`${alpha}/a`);
    expect(read.body).toMatchObject({ apiVersion: "agents.x-k8s.io/v1alpha1", spec: { replicas: 0 } });
    expect(read.body.spec).not.toHaveProperty("operatingMode");
    expect(read.body.metadata).toEqual(made.metadata);

    const started = await api.merge(`${alpha}/a`, { spec: { replicas: 1 } });
    expect(started.body).toMatchObject({ spec: { replicas: 1 }, metadata: { generation: 2 } });
    expect((await api.get(`${sandboxes}/a`)).body.spec["operatingMode"]).toBe("Running");
    const stale = {
      metadata: { resourceVersion: made.metadata.resourceVersion },
      spec: { operatingMode: "Running" },
    };
    expect((await api.merge(`${sandboxes}/a`, stale)).code).toBe(409);
    expect((await api.merge(`${alpha}/a`, { spec: { replicas: 2 } })).code).toBe(422);
  });

  it("are watched each in its own form", async () => {
    const { api } = target.current;
    const { make, alpha } = await target.current.room();
    using watch = await api.watch(`${alpha}?watch=1`);
    await make("a", { spec: { operatingMode: "Suspended" } });
    expect(await watch.next()).toMatchObject({
      type: "ADDED",
      object: { apiVersion: "agents.x-k8s.io/v1alpha1", spec: { replicas: 0 } },
    });
  });
});
