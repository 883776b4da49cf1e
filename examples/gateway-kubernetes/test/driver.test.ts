import { InvalidInputError } from "@slipway-examples/gateway-core";
import { describe, expect, it } from "vitest";
import { BOOTSTRAP_KEY, INSTANCE_KEY, SECRET_KEY } from "../src/resource/names.js";
import { SANDBOX_VERSIONS } from "../src/resource/sandbox-api.js";
import { RELEASES, type Release } from "./cluster/index.js";
import { launchRequest, REF, RELEASE_OF, startDriver, type StartedDriver } from "./driver-kit.js";

const ALL_RELEASES = Object.keys(RELEASES) as Release[];

function annotation(it: StartedDriver, key: string): string | undefined {
  return it.sandbox()?.metadata.annotations?.[key];
}

describe.each(ALL_RELEASES)("with controller %s", (release) => {
  it("starts, stops and starts again with the same resource and claim, and a token of each run's own", async () => {
    await using it = await startDriver(release);
    const handle = await it.during(it.launch(1));
    expect(handle).toMatchObject({ uid: it.sandbox()?.metadata.uid, pod: REF.name });
    expect(annotation(it, BOOTSTRAP_KEY)).toBeUndefined();
    expect(await it.observe(1)).toMatchObject({
      running: true,
      instanceId: "instance-1",
      stale: false,
      bootstrapping: false,
    });
    const [resource, claim] = [it.sandbox()?.metadata.uid, it.claim()?.metadata.uid];
    expect(claim).toBeDefined();
    expect(it.pods()[0]?.spec?.["restartPolicy"]).toBe("Never");

    await it.during(it.driver.stop(REF, { signal: it.signal }));
    expect(it.pods()).toEqual([]);
    expect(await it.observe(1)).toMatchObject({
      exists: true,
      suspended: true,
      running: false,
      workload: "absent",
      ready: false,
    });

    await it.during(it.launch(2));
    expect(await it.observe(2)).toMatchObject({
      running: true,
      suspended: false,
      instanceId: "instance-2",
      stale: false,
    });
    expect(await it.observe(1)).toMatchObject({ stale: true });
    expect([it.sandbox()?.metadata.uid, it.claim()?.metadata.uid]).toEqual([resource, claim]);
    expect(it.secrets().map(({ metadata }) => metadata.name)).toEqual([annotation(it, SECRET_KEY)]);
    const [secret] = it.secrets() as unknown as { data: { token: string } }[];
    expect(Buffer.from(secret!.data.token, "base64").toString()).toBe("token-of-run-2");
  });

  it("sees a workload that ends by itself, with its code, and starts the next run over it", async () => {
    await using it = await startDriver(release);
    await it.during(it.launch(1));
    it.node.kubelet.fail("slipway", REF.name, "Evicted", "the node was low on memory");
    await it.driven.run(1000);
    expect(await it.observe(1)).toMatchObject({ completed: true, running: false, failureReason: "Evicted" });
    await it.during(it.launch(2));
    expect(await it.observe(2)).toMatchObject({ completed: false, running: true });
    expect(it.pods()).toHaveLength(1);
  });
});

describe.each(SANDBOX_VERSIONS)("a driver of %s", (version) => {
  const release = RELEASE_OF[version];

  it("reports each step once, and is idempotent for one instance", async () => {
    await using it = await startDriver(release, { pullMs: 3000 });
    const first = await it.during(it.launch(1));
    expect(it.progress.map(({ step }) => step)).toEqual(["resource", "schedule", "image", "supervisor"]);
    const pod = it.pods()[0]?.metadata.uid;
    it.server.ledger.reset();
    expect(await it.during(it.launch(1))).toEqual(first);
    expect(it.pods()[0]?.metadata.uid).toBe(pod);
    expect(it.server.ledger.count("patch", "sandboxes")).toBe(0);
  });

  it.each(["stop", "cleanUp"] as const)(
    "leaves a newer start alone in a %s that is meant for an earlier one",
    async (call) => {
      await using it = await startDriver(release);
      await it.during(it.launch(1));
      await it.during(it.launch(2));
      const [pod, secret] = [it.pods()[0]?.metadata.uid, it.secrets()[0]?.metadata.uid];
      await it.during(it.driver[call](REF, { signal: it.signal, upTo: { attemptNumber: 1, run: 1 } }));
      expect([it.pods()[0]?.metadata.uid, it.secrets()[0]?.metadata.uid]).toEqual([pod, secret]);
      expect(await it.observe(2)).toMatchObject({ running: true, suspended: false });
      await it.during(it.driver[call](REF, { signal: it.signal, upTo: { attemptNumber: 1, run: 2 } }));
      expect(it.pods()).toEqual([]);
    },
  );

  it("keeps resource and claim through a cleanup, and removes both and the Secret only when told to", async () => {
    await using it = await startDriver(release);
    await it.during(it.launch(1));
    const claim = it.claim()?.metadata.uid;
    await it.during(it.driver.cleanUp(REF, { signal: it.signal }));
    await it.during(it.driver.cleanUp(REF, { signal: it.signal }));
    expect(it.secrets()).toEqual([]);
    expect(it.claim()?.metadata.uid).toBe(claim);
    await it.during(it.launch(2));
    expect(it.claim()?.metadata.uid).toBe(claim);
    await it.during(it.driver.remove(REF, { signal: it.signal }));
    await it.driven.run(20_000);
    expect([it.sandbox(), it.claim(), ...it.pods(), ...it.secrets()]).toEqual([null, null]);
    expect(await it.observe(2)).toMatchObject({ exists: false });
    await it.during(it.driver.remove(REF, { signal: it.signal }));
    await it.during(it.driver.stop(REF, { signal: it.signal }));
  });

  it("is gone with its claim, however late the cluster collects: a successor of its name finds a workspace of its own", async () => {
    await using it = await startDriver(release, { controllerDelayMs: 5000 });
    await it.during(it.launch(1));
    const claim = it.claim()?.metadata.uid;
    let gone = false;
    const removing = it.driver.remove(REF, { signal: it.signal }).then(() => (gone = true));
    await it.driven.run(4000);
    expect([gone, it.claim()?.metadata.uid]).toEqual([false, claim]);
    expect(await it.observe(1)).toMatchObject({ exists: true, deleting: true });
    await it.during(removing);
    expect([it.sandbox(), it.claim(), ...it.pods()]).toEqual([null, null]);
    const successor = launchRequest(1, { sandbox: { id: "sb-2", name: REF.name } });
    await it.during(it.driver.launch(successor, { signal: it.signal, report: () => undefined }));
    expect(it.claim()?.metadata.uid).not.toBe(claim);
    expect(it.claim()?.metadata.ownerReferences?.[0]?.uid).toBe(it.sandbox()?.metadata.uid);
  });

  it("is gone with its pod also where somebody else deleted the resource first", async () => {
    await using it = await startDriver(release, { controllerDelayMs: 5000 });
    await it.during(it.launch(1));
    await it.admin.delete(
      `/apis/agents.x-k8s.io/${version}/namespaces/slipway/sandboxes/${REF.name}`,
      { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background" },
      { signal: it.signal },
    );
    expect(it.sandbox()).toBeNull();
    expect(it.pods()).toHaveLength(1);
    await it.during(it.driver.remove(REF, { signal: it.signal }));
    expect([it.claim(), ...it.pods()]).toEqual([null]);
    const successor = launchRequest(1, { sandbox: { id: "sb-2", name: REF.name } });
    await it.during(it.driver.launch(successor, { signal: it.signal, report: () => undefined }));
    expect(it.claim()?.metadata.ownerReferences?.[0]?.uid).toBe(it.sandbox()?.metadata.uid);
  });

  it("touches no resource of somebody else under its name", async () => {
    await using it = await startDriver(release);
    it.server.apply({
      apiVersion: `agents.x-k8s.io/${version}`,
      kind: "Sandbox",
      metadata: { name: REF.name, namespace: "slipway" },
      spec: { podTemplate: { spec: { containers: [{ name: "other", image: "other" }] } } },
    });
    await it.driven.run(2000);
    const before = it.sandbox()?.metadata.resourceVersion;
    expect(await it.during(it.launch(1).catch((error: unknown) => error))).toMatchObject({
      reason: "OwnershipConflict",
    });
    await it.during(it.driver.stop(REF, { signal: it.signal }));
    await it.during(it.driver.cleanUp(REF, { signal: it.signal }));
    await it.during(it.driver.remove(REF, { signal: it.signal }));
    expect(it.sandbox()?.metadata.resourceVersion).toBe(before);
    expect(await it.observe(1)).toMatchObject({ exists: false });
  });

  it("takes pods by their owner, and not by their marks", async () => {
    await using it = await startDriver(release);
    await it.during(it.launch(1));
    await it.during(it.driver.stop(REF, { signal: it.signal }));
    const labels = it.sandbox()?.metadata.labels;
    it.server.apply({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "impostor",
        namespace: "slipway",
        labels,
        annotations: { [INSTANCE_KEY]: "instance-1" },
      },
      spec: { containers: [{ name: "sandbox", image: "node:20" }] },
    });
    await it.driven.run(2000);
    expect(await it.observe(1)).toMatchObject({ suspended: true, running: false, workload: "absent" });
    await it.during(it.driver.stop(REF, { signal: it.signal }));
  });

  it("ends a start whose image can never be, and waits for one that is not there yet", async () => {
    const images = new Set<string>();
    await using it = await startDriver(release, { images });
    const launched = it.launch(1);
    launched.catch(() => undefined);
    await it.driven.run(60_000);
    expect(await it.observe(1)).toMatchObject({
      failureReason: "ImagePullFailed",
      failureClass: "transient",
    });
    images.add(launchRequest(1).image.name);
    await it.during(launched, 600_000);
    expect(await it.observe(1)).toMatchObject({ running: true });
  });

  it("lists what is there page by page, says what it misses, and only of this gateway", async () => {
    await using it = await startDriver(release);
    await it.during(it.launch(1));
    const page = await it.driver.list(null, { signal: it.signal });
    expect(page).toMatchObject({ items: [{ id: REF.id, observation: { running: true } }], cursor: null });
    await expect(it.driver.list("unknown:cursor", { signal: it.signal })).rejects.toThrow("begin a new one");
    it.server.faults.inject({ fault: { kind: "status", code: 500 } });
    await expect(it.during(it.driver.list(null, { signal: it.signal }))).rejects.toMatchObject({
      status: 500,
    });
    await expect(it.during(it.observe(1))).rejects.toMatchObject({ status: 500 });
  });

  it("tells news of resource and pod until the signal ends it", async () => {
    await using it = await startDriver(release);
    const closing = new AbortController();
    const news: string[] = [];
    const told = (async () => {
      for await (const event of it.driver.watch({ signal: closing.signal }))
        news.push(`${event.type} ${event.id}`);
    })();
    await it.driven.run(2000);
    await it.during(it.launch(1));
    await it.driven.run(1000);
    expect(news).toContain(`changed ${REF.id}`);
    await it.during(it.driver.remove(REF, { signal: it.signal }));
    await it.driven.run(1000);
    expect(news).toContain(`deleted ${REF.id}`);
    closing.abort(new Error("enough"));
    await it.driven.run(500);
    await told;
    await it.driven.run(500);
    expect(it.server.openWatches).toBe(0);
  });
});

describe("what a create request may say", () => {
  it("is checked, and what is wrong is named", async () => {
    await using it = await startDriver("0.5.6");
    const image = { name: "docker.io/library/node:20" };
    await expect(it.driver.check(image, { storage: "5Gi", cpu: "500m" })).resolves.toBeUndefined();
    const cases = [
      [image, { storage: "much" }, "driverOptions.storage"],
      [image, { unknown: 1 }, "driverOptions.unknown"],
      [{ name: "has spaces" }, {}, "image.name"],
      [{ ...image, path: "/x" }, {}, "image.path"],
      [{ ...image, include: ["a"] }, {}, "image.include"],
    ] as const;
    for (const [given, options, field] of cases) {
      const error = await it.driver.check(given, options).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(InvalidInputError);
      expect((error as InvalidInputError).field).toBe(field);
    }
  });
});
