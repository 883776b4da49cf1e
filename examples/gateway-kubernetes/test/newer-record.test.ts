import { afterAll, describe, expect, it } from "vitest";
import { SPEC, tempDirs } from "./gateway-kit.js";
import { startWorld } from "./gateway-world.js";
import { NAMESPACE } from "./kit.js";

afterAll(() => tempDirs.remove());

const RECORDS = "sandboxrecords.gateway.slipway.dev";
const PATH = `/apis/gateway.slipway.dev/v1alpha1/namespaces/${NAMESPACE}/sandboxrecords`;

interface Stored {
  readonly metadata: { readonly resourceVersion?: string | undefined };
  readonly spec: { readonly value: string; readonly version: number };
}

describe("a replica beside one of a newer version", { timeout: 120_000 }, () => {
  it("leaves what that one wrote as it is, whatever becomes of it, and goes on with the rest", async () => {
    await using it = await startWorld("0.5.6", "cluster");
    const older = await it.gateway();
    for (const name of ["box", "rest"])
      await it.during(older.core.create({ name, spec: SPEC, policy: { version: 1 } }));
    for (const name of ["box", "rest"]) await it.until(name, "Ready");
    const [id, rest] = [await it.id("box"), await it.id("rest")];
    const stored = (): Stored => it.node.handle.find(RECORDS, NAMESPACE, "box") as unknown as Stored;
    const { value, version } = stored().spec;
    const newer = { ...(JSON.parse(value) as object), schemaVersion: 5, whatIsNew: { kept: true } };
    const spec = { value: JSON.stringify(newer), version: version + 1, dueAt: it.clock.now() + 1000 };
    const { signal } = new AbortController();
    await it.during(it.admin.patch(`${PATH}/box`, { spec }, { signal }));
    const { resourceVersion } = stored().metadata;

    // It is due, its pod is evicted, its user stops it, and the replica is started again.
    it.node.kubelet.fail(NAMESPACE, "box", "Evicted", "low on memory");
    await it.driven.run(30_000);
    for (const work of [() => it.core().stopSandbox(id), () => it.core().deleteSandbox(id)])
      await expect(it.during(work())).rejects.toThrow(/corrupt: record.schemaVersion/);
    await it.kill(older);
    await it.gateway();
    await it.driven.run(30_000);
    expect(stored().metadata.resourceVersion).toBe(resourceVersion);
    expect(it.claim("box")).toBeDefined();

    await it.during(it.core().stopSandbox(rest));
    await it.until("rest", "Stopped");
    await it.during(it.core().startSandbox(rest));
    await it.until("rest", "Ready");
    expect(stored().metadata.resourceVersion).toBe(resourceVersion);
  });
});
