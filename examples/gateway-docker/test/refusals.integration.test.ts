import { PermanentDriverError } from "@slipway-examples/gateway-core";
import { derivePhase } from "slipway/phase";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectEngine } from "../src/engine.js";
import { DriverBench } from "./driver-bench.js";
import { importStandIn, STAND_IN_IMAGE, TestEngine, whyNoEngine } from "./engine.js";

const sleep = ["sleep", "1000"];

describe.skipIf(whyNoEngine !== null)(
  `what the Docker driver refuses, on a real engine (${whyNoEngine ?? "dockerd"})`,
  { timeout: 240_000 },
  () => {
    let engine: TestEngine;
    const benches: DriverBench[] = [];
    const bench = (): DriverBench => {
      const made = new DriverBench(engine);
      benches.push(made);
      return made;
    };

    beforeAll(async () => {
      engine = await TestEngine.start();
      await importStandIn(engine);
      await engine.importImage("bare:1", { supervisor: false });
      await engine.importImage("broken:1", {
        files: { "/usr/local/bin/node/file": "a directory is no program" },
      });
    });
    afterEach(async () => {
      for (const made of benches.splice(0)) await made.driver.remove(made.sandbox, made);
      expect(await engine.remains()).toEqual({ containers: [], volumes: [], dangling: 0 });
    });
    afterAll(() => engine.remove());

    it.each([
      [
        "an image that nobody has",
        { image: { name: "nobody/has-it:1" }, options: { pull: "never" } },
        "ImagePullFailed",
      ],
      ["an image without the supervisor", { image: { name: "bare:1" } }, "DockerSupervisorMissing"],
      ["an archive that vanished", { image: { name: "x", path: "/nowhere/x.tar" } }, "DockerArchiveUnusable"],
      ["an archive that is none", { image: { name: "x", path: "/etc/passwd" } }, "DockerArchiveUnusable"],
    ])("refuses %s for good, and leaves nothing but the workspace", async (_, more, reason) => {
      const at = bench();
      const failure = await at.launch(at.request(1, sleep, more)).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(PermanentDriverError);
      expect(failure).toMatchObject({ reason, message: expect.stringMatching(/nobody\/has-it:1|bare:1|x/) });
      expect((await engine.remains()).containers).toEqual([]);
    });

    it("refuses a node that cannot be run for good, and leaves no container", async () => {
      // With the engine's init the container starts, and ends at once with what a shell says of such a program.
      const at = bench();
      const image = { name: "broken:1" };
      await at.launch(at.request(1, sleep, { image }));
      const ended = await at.until(({ completed }) => completed === true, { instanceId: "instance-1" });
      expect(
        derivePhase({
          record: { phase: "Starting", desired: "running", since: 0 },
          observation: ended,
          now: Date.now(),
        }),
      ).toEqual(expect.objectContaining({ phase: "Error", reason: "ProcessExited" }));
      const without = new DriverBench(engine, { init: false });
      benches.push(without);
      const failure = await without
        .launch(without.request(1, sleep, { image }))
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: "PermanentDriverError", reason: "ContainerStartFailed" });
      await at.driver.cleanUp(at.sandbox, at);
      expect((await engine.remains()).containers).toEqual([]);
    });

    it("does not take a volume of somebody else for its workspace", async () => {
      const at = bench();
      const name = `slipway-${at.sandbox.id}-workspace`;
      await engine.docker.createVolume({ Name: name });
      await expect(at.launch(at.request(1, sleep))).rejects.toMatchObject({ reason: "OwnershipConflict" });
      await at.driver.remove(at.sandbox, at);
      expect((await engine.remains()).volumes).toEqual([name]);
      await engine.docker.getVolume(name).remove();
    });

    it("names the field of a request that no engine would take", async () => {
      const { driver } = bench();
      const image = { name: STAND_IN_IMAGE };
      await expect(driver.check(image, { memoryBytes: 1 })).rejects.toThrow("driverOptions.memoryBytes");
      await expect(driver.check(image, { healthcheck: { command: [] } })).rejects.toThrow(
        "driverOptions.healthcheck.command",
      );
      await expect(driver.check(image, { colour: 1 })).rejects.toThrow("driverOptions.colour must be absent");
      await expect(driver.check({ name: "UPPER:1" }, {})).rejects.toThrow("image.name");
      await expect(driver.check({ name: "x", path: "relative.tar" }, {})).rejects.toThrow("image.path");
      await expect(driver.check({ ...image, include: ["a"] }, {})).rejects.toThrow("image.include");
      await expect(driver.check(image, { cpus: 0.5, pull: "always" })).resolves.toBeUndefined();
    });

    it("rejects when there is no engine, instead of showing that nothing is there", async () => {
      const at = new DriverBench(engine, { docker: connectEngine(`unix://${engine.dir}/nobody.sock`) });
      await expect(at.observe()).rejects.toThrow();
      await expect(at.driver.list(null, at)).rejects.toThrow();
      await expect(at.driver.watch(at)[Symbol.asyncIterator]().next()).rejects.toThrow();
    });
  },
);
