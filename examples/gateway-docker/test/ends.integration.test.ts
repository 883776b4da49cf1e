import type { DesiredState } from "slipway/phase";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { DockerDriverOptions } from "../src/docker-driver.js";
import { clockAhead, phaseAfter, until, type DriverBench } from "./driver-bench.js";
import { EngineBenches } from "./engine-benches.js";
import { importStandIn, TestEngine, whyNoEngine } from "./engine.js";

const sleep = ["sleep", "1000"];

describe.skipIf(whyNoEngine !== null)(
  `ends as the Docker driver sees them on a real engine (${whyNoEngine ?? "dockerd"})`,
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

    it("dates an end by the gateway's clock, which is a minute ahead of the engine's", async () => {
      const clock = clockAhead(60_000);
      const at = bench({ clock });
      const startedAt = clock.now();
      await at.launch(at.request(1, ["true"]));
      const { finishedAt } = await at.until(({ completed }) => completed === true);
      // What the answer took leaves open is no more than the answer took.
      expect(finishedAt).toBeGreaterThan(startedAt - 30_000);
      expect(finishedAt).toBeLessThan(clock.now() + 30_000);
    });

    it("never takes the exit of the run before for the new one's", async () => {
      const at = bench();
      await at.launch(at.request(1, ["sh", "-c", "exit 7"]));
      const ended = await at.until(({ completed }) => completed === true, { instanceId: "instance-1" });
      expect(ended).toMatchObject({ exitCode: 7, failureReason: "ProcessExited", failureClass: "terminal" });
      const next = await at.observe({ instanceId: "instance-2", desired: "running" });
      expect(next).toMatchObject({ stale: true, completed: false, exitCode: null, failureReason: null });
      expect(phaseAfter("Starting", "running", next)).toMatchObject({ phase: "Starting" });
    });

    it("tells a result, an error, a kill, a lack of memory and a stop of ours apart", async () => {
      const phases = async (
        command: readonly string[],
        options = {},
        act: (at: DriverBench, handle: string) => Promise<void> = () => Promise.resolve(),
        desired: DesiredState = "running",
        at = bench(),
      ): Promise<unknown> => {
        const handle = await at.launch(at.request(1, command, { options }));
        await act(at, handle);
        const run = { instanceId: "instance-1", desired };
        const seen = await at.until(({ completed }) => completed === true, run);
        const { phase, reason } = phaseAfter(desired === "running" ? "Ready" : "Stopping", desired, seen);
        return { phase, reason, exitCode: seen.exitCode };
      };
      const hog = ["node", "-e", "const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1))"];
      const kill = (_: DriverBench, handle: string): Promise<void> =>
        engine.docker.getContainer(handle).kill();
      const stop = async (at: DriverBench, handle: string): Promise<void> => {
        await until(async () => ((await engine.exec(handle, "cat", "/tmp/up")) === "up" ? true : null));
        await at.driver.stop(at.sandbox, at);
      };
      const up = "echo up > /tmp/up;";
      expect(await phases(["true"])).toEqual({
        phase: "Completed",
        reason: "MainProcessCompleted",
        exitCode: 0,
      });
      expect(await phases(["sh", "-c", "exit 3"])).toEqual({
        phase: "Error",
        reason: "ProcessExited",
        exitCode: 3,
      });
      expect(await phases(sleep, {}, kill)).toEqual({ phase: "Error", reason: "Killed", exitCode: 137 });
      // An engine may lose the message of a lack of memory (containerd #8893), and then knows of a kill only.
      let lacked: boolean | undefined;
      for (let runs = 0; lacked !== true && runs < 5; runs += 1) {
        let handle = "";
        const ended = await phases(hog, { memoryBytes: 100_000_000 }, (_, container) => {
          handle = container;
          return Promise.resolve();
        });
        lacked = (await engine.docker.getContainer(handle).inspect()).State.OOMKilled;
        const reason = lacked ? "OutOfMemory" : "Killed";
        expect(ended).toEqual({ phase: "Error", reason, exitCode: 137 });
      }
      expect(lacked, "the engine knew of no lack of memory in five runs").toBe(true);
      expect(await phases(["sh", "-c", `${up} exec sleep 1000`], {}, stop, "stopped")).toEqual({
        phase: "Stopped",
        reason: "Stopped",
        exitCode: 143,
      });
      expect(
        await phases(
          ["sh", "-c", `trap '' TERM; ${up} while :; do sleep 1; done`],
          {},
          stop,
          "stopped",
          bench({ stopGraceMs: 1000 }),
        ),
      ).toMatchObject({
        phase: "Stopped",
        exitCode: 137,
      });
    });
  },
);
