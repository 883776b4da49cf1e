import type { ExpectedRun } from "slipway/phase";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { DockerDriverOptions } from "../src/docker-driver.js";
import { phaseAfter, TOKEN, until } from "./driver-bench.js";
import { EngineBenches } from "./engine-benches.js";
import { importStandIn, TestEngine, whyNoEngine } from "./engine.js";

const sleep = ["sleep", "1000"];

describe.skipIf(whyNoEngine !== null)(
  `the Docker driver on a real engine (${whyNoEngine ?? "dockerd"})`,
  { timeout: 240_000 },
  () => {
    let benches: EngineBenches;
    let engine: TestEngine;
    const bench = (options?: Partial<DockerDriverOptions>) => benches.bench(options);

    beforeAll(async () => {
      engine = await TestEngine.start();
      benches = new EngineBenches(engine);
      await importStandIn(engine);
    });
    afterEach(() => benches.settle());
    afterAll(() => engine.remove());

    it("starts a container, shows it, stops it, and removes everything", async () => {
      const at = bench();
      const run: ExpectedRun = { instanceId: "instance-1", desired: "running" };
      const handle = await at.launch(at.request(1, sleep));
      expect(await at.observe(run, handle)).toMatchObject({
        exists: true,
        running: true,
        readiness: "none",
        instanceId: "instance-1",
        stale: false,
      });
      const listed = await at.driver.list(null, at);
      expect(listed).toMatchObject({
        items: [{ id: at.sandbox.id, observation: { running: true } }],
        cursor: null,
      });

      await at.driver.stop(at.sandbox, at);
      const stopped = await at.observe({ ...run, desired: "stopped" }, handle);
      expect(stopped).toMatchObject({ running: false, completed: true, failureReason: null });
      expect(phaseAfter("Stopping", "stopped", stopped)).toMatchObject({ phase: "Stopped" });
      await at.driver.stop(at.sandbox, at);

      await at.driver.remove(at.sandbox, at);
      expect(await at.observe({ desired: "deleted" }, handle)).toMatchObject({ exists: false });
      await at.driver.remove(at.sandbox, at);
    });

    it("keeps the token out of everything that an inspection shows, and out of the workload", async () => {
      const at = bench();
      const handle = await at.launch(at.request(1, ["sh", "-c", "env > /tmp/env; sleep 1000"]));
      expect(JSON.stringify(await engine.docker.getContainer(handle).inspect())).not.toContain(TOKEN);
      expect(JSON.stringify(await engine.docker.listContainers({ all: true }))).not.toContain(TOKEN);
      await until(async () =>
        (await engine.exec(handle, "cat", "/tmp/env")).includes("SLIPWAY") ? true : null,
      );
      // The supervisor had it, whole, and removed the file.
      expect(await engine.exec(handle, "cat", "/tmp/token-length")).toBe(String(TOKEN.length));
      expect(await engine.exec(handle, "ls", "-A", "/run/slipway")).toBe("");
      expect(await engine.exec(handle, "cat", "/tmp/env")).not.toContain(TOKEN);
    });

    it("starts one instance once, however often it is asked", async () => {
      const at = bench();
      const request = at.request(1, sleep);
      const handle = await at.launch(request);
      expect(await at.launch(request)).toBe(handle);
      await engine.docker.getContainer(handle).kill();
      // It has had its run: asking again shows the same end, and no second one.
      expect(await at.launch(request)).toBe(handle);
      expect((await engine.remains()).containers).toHaveLength(1);
    });

    it("takes a container that an earlier gateway made and never started for nothing", async () => {
      const at = bench();
      const handle = await at.launch(at.request(1, sleep));
      const { Name, Config, HostConfig } = await engine.docker.getContainer(handle).inspect();
      await engine.docker.getContainer(handle).remove({ force: true });
      const half = await engine.docker.createContainer({ ...Config, HostConfig, name: Name.slice(1) });
      const begun = await at.launch(at.request(1, sleep));
      expect(begun).not.toBe(half.id);
      expect(await at.observe({ instanceId: "instance-1" }, begun)).toMatchObject({ running: true });
    });

    it("begins a newer run in a new container, keeps the workspace, and refuses an overtaken one", async () => {
      const at = bench();
      const first = await at.launch(at.request(1, sleep));
      await engine.exec(first, "sh", "-c", "echo kept > /workspace/note");
      const second = await at.launch(at.request(2, sleep));
      expect((await engine.remains()).containers).toHaveLength(1);
      expect(await engine.exec(second, "cat", "/workspace/note")).toBe("kept");
      await expect(at.launch(at.request(1, sleep))).rejects.toThrow(
        "run 1 of attempt 1 was overtaken by run 2",
      );
      expect(await at.observe({ instanceId: "instance-2" })).toMatchObject({ running: true, stale: false });
      // Evidence about a run that is not the expected one moves nothing.
      expect(await at.observe({ instanceId: "instance-3" })).toMatchObject({ stale: true });
    });

    it("is ready while the health check passes, and not before", async () => {
      const at = bench();
      const healthcheck = {
        command: ["test", "-e", "/tmp/ok"],
        intervalMs: 200,
        retries: 2,
        timeoutMs: 60_000,
      };
      const handle = await at.launch(at.request(1, sleep, { options: { healthcheck } }));
      const run = { instanceId: "instance-1" };
      expect(await at.observe(run)).toMatchObject({ running: true, readiness: "signal", ready: false });
      await engine.exec(handle, "touch", "/tmp/ok");
      const healthy = await at.until(({ ready }) => ready === true, run);
      expect(phaseAfter("Starting", "running", healthy)).toMatchObject({ phase: "Ready" });
      await engine.exec(handle, "rm", "/tmp/ok");
      const sick = await at.until(({ failureReason }) => failureReason !== null, run);
      expect(sick).toMatchObject({
        running: true,
        ready: false,
        failureReason: "HealthCheckFailed",
        failureClass: "transient",
      });
    });

    it("shows a paused container as suspended, and a stop lets it go on so that it hears of it", async () => {
      const at = bench();
      const command = ["sh", "-c", "trap 'exit 21' TERM; echo up > /tmp/up; while :; do sleep 0.1; done"];
      const handle = await at.launch(at.request(1, command));
      await until(async () => ((await engine.exec(handle, "cat", "/tmp/up")) === "up" ? true : null));
      await engine.docker.getContainer(handle).pause();
      expect(await at.observe({ instanceId: "instance-1" })).toMatchObject({
        running: false,
        suspended: true,
      });
      await at.driver.stop(at.sandbox, at);
      const stopped = await at.observe({ instanceId: "instance-1", desired: "stopped" });
      expect(stopped).toMatchObject({ completed: true, exitCode: 21, failureReason: null });
    });

    it("has removed a container when it says so, also one whose removal somebody else had begun", async () => {
      const at = bench();
      const handle = await at.launch(at.request(1, sleep));
      const remove = (): Promise<unknown> => engine.docker.getContainer(handle).remove({ force: true });
      const others = [remove(), remove()].map((removal) => removal.catch(() => undefined));
      await at.driver.cleanUp(at.sandbox, at);
      expect((await engine.remains()).containers).toEqual([]);
      await Promise.all(others);
    });

    it("sees a container that somebody removed, and a stopped sandbox that lost nothing by it", async () => {
      const at = bench();
      const handle = await at.launch(at.request(1, sleep));
      await engine.docker.getContainer(handle).remove({ force: true });
      const run: ExpectedRun = { instanceId: "instance-1", desired: "running" };
      const lost = await at.observe(run, handle);
      expect(phaseAfter("Ready", "running", lost)).toMatchObject({
        phase: "Error",
        reason: "ComputeResourceMissing",
      });
      const rest = await at.observe({ ...run, desired: "stopped" }, handle);
      expect(phaseAfter("Stopping", "stopped", rest)).toMatchObject({ phase: "Stopped" });
      // The workspace is still to be removed, so the sandbox is not gone yet.
      const going = await at.observe({ ...run, desired: "deleted" }, handle);
      expect(phaseAfter("Deleting", "deleted", going)).toMatchObject({ phase: "Deleting" });
    });

    it("tells of changes as they happen, of its own sandboxes only", async () => {
      const at = bench();
      const foreign = bench({ gateway: "another" });
      const heard: string[] = [];
      const controller = new AbortController();
      const listening = (async () => {
        for await (const { id } of at.driver.watch(controller)) heard.push(id);
      })();
      // Until the stream is open nothing would be heard: the first news shows that it is.
      await foreign.launch(foreign.request(1, sleep));
      const handle = await at.launch(at.request(1, sleep));
      await until(async () => {
        if (heard.length > 0) return true;
        await engine.docker.getContainer(handle).pause();
        await engine.docker.getContainer(handle).unpause();
        return null;
      });
      const before = heard.length;
      await at.driver.stop(at.sandbox, at);
      await until(() => Promise.resolve(heard.length > before ? true : null));
      controller.abort();
      await listening;
      expect(new Set(heard)).toEqual(new Set([at.sandbox.id]));
      expect((await at.driver.list(null, at)).items.map(({ id }) => id)).toEqual([at.sandbox.id]);
    });

    it("lists all of its sandboxes, page by page, those that have only a workspace among them", async () => {
      const at = bench();
      const names = Array.from({ length: 105 }, (_, index) => `listed-${String(index).padStart(3, "0")}`);
      for (const id of names) {
        const Labels = { "slipway.dev/gateway": "test", "slipway.dev/sandbox-id": id };
        await engine.docker.createVolume({ Name: `slipway-${id}-workspace`, Labels });
      }
      const first = await at.driver.list(null, at);
      const second = await at.driver.list(first.cursor, at);
      expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(names);
      expect(first.items[0]?.observation).toMatchObject({ exists: true, workload: "absent", running: false });
      expect(second.cursor).toBeNull();
      for (const id of names) await at.driver.remove({ id, name: id }, at);
    });
  },
);
