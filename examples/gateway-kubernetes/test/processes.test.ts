import { eventually } from "@slipway-examples/gateway-core/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Authority } from "./apiserver/certificates.js";
import { at } from "./apiserver/object.js";
import { NAMESPACE, SETTINGS } from "./kit.js";
import { tempDirs } from "./gateway-kit.js";
import { startProcesses } from "./process-kit.js";

type Started = Awaited<ReturnType<typeof startProcesses>>;

const LIMIT = { timeout: 300_000 };
const WORK = ["sh", "-c", 'printf "%s" "$WORD" >> runs; exec sleep 600'];
const POLICY = { version: 1, env: { WORD: "x" } };

afterAll(() => tempDirs.remove());

/** The supervisor in the pod failed to reach its gateway several times, and goes on. */
async function waitsForItsGateway(on: Started): Promise<void> {
  await eventually(
    "several attempts in the pod's log",
    () => Promise.resolve(/for attempt 5 .*\(transient\)/.test(on.podLog())),
    90_000,
  ).catch((error: unknown) => {
    throw new Error(on.podLog(), { cause: error });
  });
}

describe("seed 002 with a gateway process, TLS, and the bundled supervisor in the pod", () => {
  it(
    "a pod that comes up while the gateway's process is gone starts its workload once, when that is back",
    LIMIT,
    async () => {
      await using on = await startProcesses();
      await on.begin();
      on.holdPods();
      const { id } = await on.create("box", WORK, POLICY);
      await eventually("the pod", () => Promise.resolve(on.pod()), 60_000);
      await on.kill();
      on.releasePods("box");
      await waitsForItsGateway(on);
      const { uid } = on.pod()?.metadata ?? { uid: "" };
      expect(at(on.pod(), "status.phase")).toBe("Running");
      expect(on.record("box")?.view.phase).toBe("Provisioning");
      expect(await on.inWorkspace("box", "runs")).toBe("");
      await on.begin();
      await on.until(id, ({ phase }) => phase === "Ready");
      expect(await on.inWorkspace("box", "runs")).toBe("x");
      expect(on.pod()?.metadata.uid).toBe(uid);
      expect(at(on.pod(), "status.containerStatuses")).toMatchObject([{ restartCount: 0 }]);
    },
  );

  it(
    "a replacement pod that cannot reach its gateway waits, says so, and keeps the workspace",
    LIMIT,
    async () => {
      await using on = await startProcesses(["--sweep-ms", "500"]);
      await on.begin();
      const { id } = await on.create("box", WORK, POLICY);
      await on.until(id, ({ phase }) => phase === "Ready");
      await eventually("the first run", async () => (await on.inWorkspace("box", "runs")) === "x");
      const claim = on.claim("box")?.metadata.uid;
      await writeFile(join(on.workspace("box"), "sentinel"), "kept");
      await on.stop(id);
      await on.until(id, ({ phase }) => phase === "Stopped");
      on.proxy.open = false;
      await on.start(id);
      await waitsForItsGateway(on);
      // The pod's log says what is waited for, the record that it is not ready, and nothing is terminal.
      const away = await on.get(id);
      expect(away.phase).toBe("Starting");
      expect(away.conditions.find(({ type }) => type === "Ready")).toMatchObject({ status: "False" });
      const written = on.conditionsWritten("Bootstrapped");
      expect(await on.inWorkspace("box", "runs")).toBe("x");
      on.proxy.open = true;
      const ready = await on.until(id, ({ phase }) => phase === "Ready");
      // The first thing that the gateway hears is what was waited for.
      expect(written[0]).toMatch(/^False BootstrapInProgress ECONNRESET gateway: .*\(transient\)/);
      await eventually("the second run", async () => (await on.inWorkspace("box", "runs")) === "xx");
      expect(await on.inWorkspace("box", "sentinel")).toBe("kept");
      expect(on.claim("box")?.metadata.uid).toBe(claim);
      expect(ready.attempt).toBe(2);
    },
  );

  it(
    "a pod that is deleted under its workload is no success, and its replacement replays nothing",
    LIMIT,
    async () => {
      await using on = await startProcesses(["--sweep-ms", "500"]);
      await on.begin();
      const { id } = await on.create("box", WORK, POLICY);
      await on.until(id, ({ phase }) => phase === "Ready");
      const pod = `/api/v1/namespaces/${NAMESPACE}/pods/box`;
      const now = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 };
      await on.admin.delete(pod, now, { signal: new AbortController().signal });
      expect(await on.until(id, ({ phase }) => phase !== "Ready")).toMatchObject({
        phase: "Error",
        reason: "Killed",
      });
      await eventually("the end of the replacement", () =>
        Promise.resolve(at(on.pod(), "status.phase") === "Failed"),
      );
      expect(on.podLog()).toContain("nothing is replayed");
      expect(await on.inWorkspace("box", "runs")).toBe("x");
      await on.start(id);
      await on.until(id, ({ phase }) => phase === "Ready");
      await eventually("the second run", async () => (await on.inWorkspace("box", "runs")) === "xx");
    },
  );

  it(
    "neither what has completed nor what was stopped is started by a gateway that comes back",
    LIMIT,
    async () => {
      await using on = await startProcesses(["--sweep-ms", "500"]);
      await on.begin();
      const done = await on.create("job", ["sh", "-c", "printf x >> runs"], POLICY);
      const box = await on.create("box", WORK, POLICY);
      await on.until(done.id, ({ phase }) => phase === "Completed");
      await on.until(box.id, ({ phase }) => phase === "Ready");
      await on.stop(box.id);
      await on.until(box.id, ({ phase }) => phase === "Stopped");
      await on.kill();
      await on.begin();
      await on.sweeps(4);
      expect(await on.get(done.id)).toMatchObject({ phase: "Completed", attempt: 1 });
      expect(await on.get(box.id)).toMatchObject({ phase: "Stopped", attempt: 1 });
      expect(await on.inWorkspace("job", "runs")).toBe("x");
      expect(await on.inWorkspace("box", "runs")).toBe("x");
    },
  );
});

describe("what no waiting can mend ends the bootstrap at once, and says why", () => {
  it("a gateway whose certificate is of another authority than the pod was given", LIMIT, async () => {
    await using on = await startProcesses();
    const { signal } = new AbortController();
    const path = `/api/v1/namespaces/${NAMESPACE}/configmaps/${SETTINGS.caConfigMap ?? ""}`;
    await on.admin.patch(path, { data: { "ca.crt": new Authority().cert } }, { signal });
    await on.begin();
    const { id } = await on.create("box", WORK, POLICY);
    const failed = await on.until(id, ({ phase }) => phase === "Error");
    expect(failed).toMatchObject({ reason: "BootstrapFailed", attempt: 1 });
    expect(failed.message).toMatch(/CERT_SIGNATURE_FAILURE \(permanent\)|SELF_SIGNED|UNABLE_TO_/);
    expect(await on.inWorkspace("box", "runs")).toBe("");
    await on.admin.patch(path, { data: { "ca.crt": on.authority.cert } }, { signal });
    await on.start(id);
    await on.until(id, ({ phase }) => phase === "Ready");
    await eventually("its only run", async () => (await on.inWorkspace("box", "runs")) === "x");
  });

  it("a token that the gateway does not know", LIMIT, async () => {
    await using on = await startProcesses();
    await on.begin();
    on.holdPods();
    const { id } = await on.create("box", WORK, POLICY);
    await eventually("the pod", () => Promise.resolve(on.pod()), 60_000);
    const secret = on.node.handle.list("secrets", NAMESPACE)[0]?.metadata.name ?? "";
    const data = { token: Buffer.from("forged").toString("base64") };
    const { signal } = new AbortController();
    await on.admin.patch(`/api/v1/namespaces/${NAMESPACE}/secrets/${secret}`, { data }, { signal });
    on.releasePods("box");
    // That pod has ended at once; its gateway knows the token, and makes another one with it.
    await on.until(id, ({ phase }) => phase === "Ready");
    const [forged = ""] = on.runtime.logs.values();
    expect(forged).toMatch(/Dismissed/);
    expect(forged).not.toContain("The main process is started");
    await eventually("its only run", async () => (await on.inWorkspace("box", "runs")) === "x");
  });

  it("a policy that is invalid, once the time for its repair is over", LIMIT, async () => {
    await using on = await startProcesses(["--admission-ms", "4000", "--admission-ceiling-ms", "8000"]);
    await on.begin();
    const { id } = await on.create("box", WORK, { version: 1, network: { allow: ["nowhere"] } });
    const failed = await on.until(id, ({ phase }) => phase === "Error");
    expect(failed).toMatchObject({ reason: "ProvisioningTimedOut" });
    expect(failed.message).toContain('policy.network.allow[0] must be "host:port"');
    expect(failed.conditions).toContainEqual(
      expect.objectContaining({
        type: "ConfigurationReady",
        status: "False",
        reason: "ConfigurationInvalid",
      }),
    );
    expect(await on.inWorkspace("box", "runs")).toBe("");
    await on.update(id, POLICY);
    await on.start(id);
    await on.until(id, ({ phase }) => phase === "Ready");
    await eventually("its only run", async () => (await on.inWorkspace("box", "runs")) === "x");
  });
});
