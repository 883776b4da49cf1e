import { getCondition } from "slipway";
import { afterAll, describe, expect, it } from "vitest";
import { SPEC, tempDirs, type Replica } from "./gateway-kit.js";
import { startWorld, STORES } from "./gateway-world.js";
import { NAMESPACE } from "./kit.js";

afterAll(() => tempDirs.remove());

const WORDS =
  /^Pod box runs on node-1 since \S+Z \(Pod is Running but not Ready.*\); its supervisor was started at \S+Z and has not reached a gateway$/;

describe.each(STORES)("a record, in %s, of a pod whose supervisor reaches no gateway", (store) => {
  it("says where the pod is and since when nothing was heard, once, until the supervisor speaks for itself", async () => {
    let reachable = false;
    const route = (alive: readonly Replica[]): Replica | null => (reachable ? (alive[0] ?? null) : null);
    await using it = await startWorld("0.5.6", store, { route });
    const { core } = await it.gateway();
    const { record } = await it.during(core.create({ name: "box", spec: SPEC, policy: { version: 1 } }));
    const standing = async () => {
      const found = (await it.during(core.records.read(record.id)))!;
      return { ...found, bootstrapped: getCondition(found.record.conditions, "Bootstrapped") };
    };
    await it.driven.run(5000);
    const { bootstrapped: fresh } = await standing();
    expect(fresh).toMatchObject({ status: "False", reason: "BootstrapPending" });
    await it.driven.run(40_000);
    const silent = await standing();
    expect(silent.record.phase).toBe("Provisioning");
    expect(silent.bootstrapped).toMatchObject({ status: "Unknown", reason: "BootstrapPending" });
    expect(silent.bootstrapped?.message).toMatch(WORDS);
    // Waiting is no news.
    await it.driven.run(20_000);
    const later = await standing();
    expect(later.bootstrapped).toEqual(silent.bootstrapped);
    expect(later.version - silent.version).toBeLessThanOrEqual(3);

    const { annotations } = it.node.handle.find("sandboxes.agents.x-k8s.io", NAMESPACE, "box")!.metadata;
    expect(annotations?.["slipway.dev/message"]).toMatch(/: Pod box runs on .* has not reached a gateway$/);
    if (store === "cluster") {
      const path = `/apis/gateway.slipway.dev/v1alpha1/namespaces/${NAMESPACE}/sandboxrecords/box`;
      const { signal } = new AbortController();
      const object = await it.during(it.admin.get(path, { signal }));
      expect(object["view"]).toMatchObject({ message: annotations?.["slipway.dev/message"] });
    }

    reachable = true;
    await it.until("box", "Ready");
    const { bootstrapped: over } = await standing();
    expect(over).toMatchObject({ status: "True", reason: "BootstrapSucceeded" });
    await it.driven.run(2000);
    const after = it.node.handle.find("sandboxes.agents.x-k8s.io", NAMESPACE, "box")!.metadata.annotations;
    expect(after?.["slipway.dev/message"]).toMatch(/^the main process runs|^The sandbox is usable/);
  });
});
