import { PermanentDriverError } from "@slipway-examples/gateway-core";
import {
  allowedOperations,
  derivePhase,
  type DesiredState,
  type Observation,
  type Phase,
} from "slipway/phase";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { DriverBench, until, untilTrue } from "./driver-bench.js";
import { importStandIn, TestEngine, whyNoEngine } from "./engine.js";
import { TestRegistry } from "./registry.js";

const sleep = ["sleep", "1000"];
const RUN_1 = { instanceId: "instance-1", desired: "running" } as const;

/** Phase, reason and open operations of a record once this was observed. */
function after(phase: Phase, desired: DesiredState, observation: Observation | null): object {
  const now = Date.now();
  const derived = derivePhase({ record: { phase, desired, since: 0 }, observation, now });
  const record = { phase: derived.phase, desired, since: 0, reason: derived.reason };
  const operations = allowedOperations({ record, observation, by: "user", now });
  const open = Object.entries(operations).flatMap(([name, gate]) =>
    gate.allowed ? [`${name}: ${gate.route}`] : [],
  );
  return { phase: derived.phase, reason: derived.reason, stale: derived.stale, open };
}

describe.skipIf(whyNoEngine !== null).each([
  ["without live restore", []],
  ["with live restore", ["--live-restore"]],
])(`an engine that is killed, %s (${whyNoEngine ?? "dockerd"})`, { timeout: 240_000 }, (_, options) => {
  const live = options.length > 0;
  let engine: TestEngine;
  let registry: TestRegistry;
  let at: DriverBench;

  beforeAll(async () => {
    engine = await TestEngine.start(options);
    registry = await TestRegistry.start();
    await importStandIn(engine);
  });
  afterEach(async () => {
    await at.driver.remove(at.sandbox, at);
    expect(await engine.remains()).toEqual({ containers: [], volumes: [], dangling: 0 });
  });
  afterAll(async () => {
    await engine.remove();
    await registry.close();
  });

  it("during preparation: the work begins again, and nothing but the workspace remains of it", async () => {
    at = new DriverBench(engine);
    const reference = await registry.add("slow", [3_000_000]);
    const letGo = registry.hold();
    const launched = at
      .launch(at.request(1, sleep, { image: { name: reference } }))
      .catch((error: unknown) => error);
    await untilTrue(() => at.reports.some(({ position = 0 }) => position > 0));
    await engine.kill();
    const failure = await launched;
    expect(failure).toBeInstanceOf(Error);
    expect(failure).not.toBeInstanceOf(PermanentDriverError);
    // While there is no engine nothing is learnt, and the record stands.
    const silence = await at.observe(RUN_1).catch(() => null);
    expect(silence).toBeNull();
    expect(after("Provisioning", "running", silence)).toMatchObject({
      phase: "Provisioning",
      stale: true,
      open: ["stop: stop", "delete: delete"],
    });
    letGo();
    await engine.start(options);
    const seen = await at.observe(RUN_1);
    expect(after("Provisioning", "running", seen)).toMatchObject({
      phase: "Provisioning",
      stale: false,
      open: ["stop: stop", "delete: delete"],
    });
    expect(await engine.remains()).toMatchObject({ containers: [], dangling: 0 });
    await at.launch(at.request(2, sleep));
    expect(await at.observe({ instanceId: "instance-2" })).toMatchObject({ running: true });
  });

  it("while running: the container goes on, or its end is a kill and the next run has the workspace", async () => {
    at = new DriverBench(engine);
    const handle = await at.launch(at.request(1, sleep));
    const { State } = await engine.docker.getContainer(handle).inspect();
    await engine.exec(handle, "sh", "-c", "echo kept > /workspace/note");
    await engine.kill();
    const silence = await at.observe(RUN_1, handle).catch(() => null);
    expect(after("Ready", "running", silence)).toMatchObject({ phase: "Ready", stale: true });
    await engine.start(options);
    const seen = await at.observe(RUN_1, handle);
    if (live) {
      expect(after("Ready", "running", seen)).toEqual({
        phase: "Ready",
        reason: "DependenciesReady",
        stale: false,
        open: ["start: noop", "stop: stop", "delete: delete"],
      });
      expect((await engine.docker.getContainer(handle).inspect()).State.Pid).toBe(State.Pid);
      return;
    }
    expect(after("Ready", "running", seen)).toEqual({
      phase: "Error",
      reason: "Killed",
      stale: false,
      open: ["start: restart", "stop: stop", "delete: delete"],
    });
    const next = await at.launch(at.request(2, sleep));
    expect(await engine.exec(next, "cat", "/workspace/note")).toBe("kept");
    expect((await engine.remains()).containers).toHaveLength(1);
  });

  it("while stopping: the stop fails, is asked again, and is a stop of ours", async () => {
    at = new DriverBench(engine);
    const deaf = [
      "sh",
      "-c",
      "trap 'echo asked > /tmp/asked' TERM; echo up > /tmp/up; while :; do sleep 1; done",
    ];
    const handle = await at.launch(at.request(1, deaf));
    await until(async () => ((await engine.exec(handle, "cat", "/tmp/up")) === "up" ? true : null));
    const stopped = at.driver.stop(at.sandbox, at).catch((error: unknown) => error);
    await until(async () => ((await engine.exec(handle, "cat", "/tmp/asked")) === "asked" ? true : null));
    await engine.kill();
    expect(await stopped).toBeInstanceOf(Error);
    const silence = await at.observe({ ...RUN_1, desired: "stopped" }, handle).catch(() => null);
    expect(after("Stopping", "stopped", silence)).toMatchObject({ phase: "Stopping", stale: true });
    await engine.start(options);
    const asked = { ...RUN_1, desired: "stopped" } as const;
    if (live) {
      const still = await at.observe(asked, handle);
      expect(after("Stopping", "stopped", still)).toMatchObject({ phase: "Stopping", stale: false });
    }
    await new DriverBench(engine, { stopGraceMs: 1000 }).driver.stop(at.sandbox, at);
    const seen = await at.observe(asked, handle);
    expect(after("Stopping", "stopped", seen)).toEqual({
      phase: "Stopped",
      reason: "Stopped",
      stale: false,
      open: ["start: resume", "stop: noop", "delete: delete"],
    });
  });

  it("and a run that ends meanwhile shows its own end", async () => {
    at = new DriverBench(engine);
    const handle = await at.launch(
      at.request(1, ["sh", "-c", "while [ ! -e /workspace/go ]; do sleep 0.1; done; exit 7"]),
    );
    const [volume] = (await engine.remains()).volumes;
    const { State } = await engine.docker.getContainer(handle).inspect();
    await engine.kill();
    await writeFile(join(engine.dir, "data/volumes", volume ?? "", "_data/go"), "");
    await until(() => Promise.resolve(existsSync(`/proc/${State.Pid}`) ? null : true));
    await engine.start(options);
    const seen = await at.until(({ completed }) => completed === true, RUN_1);
    expect(seen).toMatchObject({ exitCode: 7, failureReason: "ProcessExited", stale: false });
    // What was seen of it is history for the run that comes next.
    const next = await at.observe({ instanceId: "instance-2", desired: "running" }, null);
    expect(next).toMatchObject({ stale: true, completed: false, exitCode: null });
    expect(handle).toMatch(/^[0-9a-f]{64}$/);
  });

  it("and the stream of news ends with it, and is opened anew", async () => {
    at = new DriverBench(engine);
    const listening = (async () => {
      for await (const news of at.driver.watch(at)) if (news.id === "") return;
    })();
    const ended = listening.then(
      () => "ended",
      () => "broke",
    );
    await at.launch(at.request(1, sleep));
    await engine.kill();
    expect(["ended", "broke"]).toContain(await ended);
    await engine.start(options);
    // What changed in between nobody tells any more: the stream begins with everything that there is.
    const controller = new AbortController();
    const news = at.driver.watch(controller);
    expect(await news.next()).toEqual({ done: false, value: { type: "changed", id: at.sandbox.id } });
    const { items } = await at.driver.list(null, at);
    expect(items).toMatchObject([{ id: at.sandbox.id, observation: { running: live } }]);
    const heard = news.next();
    await at.launch(at.request(2, sleep));
    expect(await heard).toEqual({ done: false, value: { type: "changed", id: at.sandbox.id } });
    const rest = news.next();
    controller.abort();
    await rest;
    await news.return(undefined);
  });
});
