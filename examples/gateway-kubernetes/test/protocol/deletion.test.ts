import { describe, expect, it } from "vitest";
import { HAS_CORE, NEEDS_CORE, useTarget, type Room } from "./target.js";

const target = useTarget();
const FINALIZER = "slipway.test/hold";

describe("a deletion", () => {
  it("of an object that nothing holds takes it away at once", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    const made = await make("a");
    const reply = await api.delete(`${sandboxes}/a`);
    expect(reply.code).toBe(200);
    expect(reply.body).toMatchObject({
      kind: "Status",
      status: "Success",
      details: { name: "a", group: "agents.x-k8s.io", kind: "sandboxes", uid: made.metadata.uid },
    });
    expect((await api.get(`${sandboxes}/a`)).code).toBe(404);
    expect((await api.delete(`${sandboxes}/a`)).code).toBe(404);
  });

  it("waits for finalizers, marked once, and ends with the last of them", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    await make("a", { metadata: { finalizers: [FINALIZER] } });
    const first = await api.delete(`${sandboxes}/a`);
    expect(first.code).toBe(200);
    expect(first.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2 });
    expect(first.body.metadata.deletionTimestamp).toMatch(/Z$/);
    const second = await api.delete(`${sandboxes}/a`);
    expect(second.body.metadata).toEqual(first.body.metadata);

    // It is still an object: spec and status can be written, new finalizers cannot come.
    expect((await api.merge(`${sandboxes}/a`, { spec: { operatingMode: "Suspended" } })).code).toBe(200);
    expect((await api.merge(`${sandboxes}/a/status`, { status: { nodeName: "n" } })).code).toBe(200);
    const more = await api.merge(`${sandboxes}/a`, {
      metadata: { finalizers: [FINALIZER, "slipway.test/more"] },
    });
    expect([more.code, more.body.details.causes[0]?.field]).toEqual([422, "metadata.finalizers"]);
    const revived = await api.merge(`${sandboxes}/a`, { metadata: { deletionTimestamp: null } });
    expect([revived.code, revived.body.metadata.deletionTimestamp]).toEqual([
      200,
      first.body.metadata.deletionTimestamp,
    ]);

    const last = await api.merge(`${sandboxes}/a`, { metadata: { finalizers: null } });
    expect(last.code).toBe(200);
    expect(last.body.metadata.finalizers).toBeUndefined();
    expect((await api.get(`${sandboxes}/a`)).code).toBe(404);
  });

  it("on another uid or version is 409 and leaves the object", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    const made = await make("a");
    const { uid, resourceVersion } = made.metadata;
    const deleteIf = (preconditions: object) => api.delete(`${sandboxes}/a`, { preconditions });
    const other = await deleteIf({ uid: "other" });
    expect([other.code, other.body.reason]).toEqual([409, "Conflict"]);
    expect(other.body.message).toContain("the UID in the precondition (other) does not match");
    expect((await deleteIf({ uid, resourceVersion: "1" })).code).toBe(409);
    expect((await api.get(`${sandboxes}/a`)).code).toBe(200);
    expect((await deleteIf({ uid, resourceVersion })).code).toBe(200);
  });

  it("refuses options that make no sense", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    await make("a");
    expect((await api.delete(`${sandboxes}/a?propagationPolicy=Never`)).code).toBe(422);
    expect((await api.delete(`${sandboxes}/a?propagationPolicy=Orphan&orphanDependents=true`)).code).toBe(
      422,
    );
    expect((await api.get(`${sandboxes}/a`)).code).toBe(200);
  });

  it("with dryRun leaves the object", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    await make("a");
    expect((await api.delete(`${sandboxes}/a?dryRun=All`)).code).toBe(200);
    expect((await api.get(`${sandboxes}/a`)).code).toBe(200);
  });

  it("of a collection takes what the selector names", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    await make("a", { metadata: { labels: { go: "yes" } } });
    await make("b");
    const reply = await api.delete(`${sandboxes}?labelSelector=go%3Dyes`);
    expect(reply.code).toBe(200);
    const left = await api.get(sandboxes);
    expect(left.body.items.map((item) => item.metadata.name)).toEqual(["b"]);
  });

  it("by a policy puts that policy's finalizer on the object", async () => {
    const { api } = target.current;
    const { make, sandboxes } = await target.current.room();
    // The hold keeps a garbage collector from ending it, so that this also holds where one is at work.
    await make("a", { metadata: { finalizers: [FINALIZER] } });
    const foreground = await api.delete(`${sandboxes}/a?propagationPolicy=Foreground`);
    expect(foreground.body.metadata.finalizers).toContain("foregroundDeletion");
    await make("b", { metadata: { finalizers: [FINALIZER] } });
    const orphan = await api.delete(`${sandboxes}/b`, { propagationPolicy: "Orphan" });
    expect(orphan.body.metadata.finalizers).toContain("orphan");
    await make("c", { metadata: { finalizers: [FINALIZER] } });
    const background = await api.delete(`${sandboxes}/c?propagationPolicy=Background`);
    expect(background.body.metadata.finalizers).toEqual([FINALIZER]);
  });
});

describe.skipIf(!HAS_CORE)(`dependents${NEEDS_CORE}`, () => {
  interface Family {
    readonly room: Room;
    readonly maps: string;
    readonly uid: string;
  }

  async function family(finalizers: readonly string[] = []): Promise<Family> {
    const { api } = target.current;
    const room = await target.current.room();
    const maps = `/api/v1/namespaces/${room.namespace}/configmaps`;
    const owner = await room.make("owner");
    const reference = {
      apiVersion: owner.apiVersion,
      kind: "Sandbox",
      name: "owner",
      uid: owner.metadata.uid,
    };
    const ownerReferences = [{ ...reference, blockOwnerDeletion: true }];
    const reply = await api.post(maps, { metadata: { name: "child", ownerReferences, finalizers } });
    expect(reply.code).toBe(201);
    return { room, maps, uid: owner.metadata.uid };
  }

  /** Reads until an answer has this code: garbage is collected when the collector comes to it. */
  async function becomes(path: string, code: number): Promise<void> {
    while ((await target.current.api.get(path)).code !== code);
  }

  it("go after their owner in the background", async () => {
    const { api } = target.current;
    const { room, maps } = await family();
    await api.delete(`${room.sandboxes}/owner?propagationPolicy=Background`);
    expect((await api.get(`${room.sandboxes}/owner`)).code).toBe(404);
    await becomes(`${maps}/child`, 404);
  });

  it("go before their owner in the foreground", async () => {
    const { api } = target.current;
    const { room, maps } = await family([FINALIZER]);
    await api.delete(`${room.sandboxes}/owner?propagationPolicy=Foreground`);
    while ((await api.get(`${maps}/child`)).body.metadata.deletionTimestamp === undefined);
    expect((await api.get(`${room.sandboxes}/owner`)).body.metadata.finalizers).toEqual([
      "foregroundDeletion",
    ]);
    await api.merge(`${maps}/child`, { metadata: { finalizers: null } });
    await becomes(`${room.sandboxes}/owner`, 404);
  });

  it("are freed by an orphaning deletion", async () => {
    const { api } = target.current;
    const { room, maps } = await family();
    await api.delete(`${room.sandboxes}/owner?propagationPolicy=Orphan`);
    await becomes(`${room.sandboxes}/owner`, 404);
    const { code, body } = await api.get(`${maps}/child`);
    expect([code, body.metadata.ownerReferences]).toEqual([200, undefined]);
  });

  it("stay while another owner lives, and lose the one that does not", async () => {
    const { api } = target.current;
    const { room, maps, uid } = await family();
    const other = await room.make("other");
    const second = { apiVersion: other.apiVersion, kind: "Sandbox", name: "other", uid: other.metadata.uid };
    const { body } = await api.get(`${maps}/child`);
    await api.merge(`${maps}/child`, {
      metadata: { ownerReferences: [...(body.metadata.ownerReferences ?? []), second] },
    });
    await api.delete(`${room.sandboxes}/owner`);
    const owners = async (): Promise<string[]> =>
      ((await api.get(`${maps}/child`)).body.metadata.ownerReferences ?? []).map((owner) => owner.uid);
    while ((await owners()).includes(uid));
    expect(await owners()).toEqual([other.metadata.uid]);
  });

  it("of an owner that never was are collected", async () => {
    const { api } = target.current;
    const room = await target.current.room();
    const maps = `/api/v1/namespaces/${room.namespace}/configmaps`;
    const ownerReferences = [
      { apiVersion: "agents.x-k8s.io/v1beta1", kind: "Sandbox", name: "x", uid: "no-such-uid" },
    ];
    await api.post(maps, { metadata: { name: "child", ownerReferences } });
    await becomes(`${maps}/child`, 404);
  });
});
