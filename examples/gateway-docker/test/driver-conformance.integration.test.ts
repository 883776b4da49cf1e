import { HeldDoor, driverSubject } from "@slipway-examples/gateway-core/testing";
import { observationSourceConformance } from "slipway/testing";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { DockerDriver } from "../src/docker-driver.js";
import { connectEngine } from "../src/engine.js";
import { importStandIn, STAND_IN_IMAGE, TestEngine, whyNoEngine } from "./engine.js";

describe.skipIf(whyNoEngine !== null)(
  `the Docker driver on a real engine (${whyNoEngine ?? "dockerd"})`,
  { timeout: 240_000 },
  () => {
    const { signal } = new AbortController();
    let engine: TestEngine;
    let doors = 0;

    beforeAll(async () => {
      engine = await TestEngine.start();
      await importStandIn(engine);
    });
    afterEach(async () => {
      const driver = new DockerDriver({ docker: engine.docker, gateway: "test" });
      const { items } = await driver.list(null, { signal });
      for (const { id } of items) await driver.remove({ id, name: id }, { signal });
      expect(await engine.remains()).toEqual({ containers: [], volumes: [], dangling: 0 });
    });
    afterAll(() => engine.remove());

    for (const { name, run } of observationSourceConformance) {
      it(name, async () => {
        doors += 1;
        const door = await HeldDoor.open(
          join(engine.dir, "docker.sock"),
          join(engine.dir, `door-${doors}.sock`),
        );
        await run(() =>
          driverSubject({
            driver: new DockerDriver({ docker: connectEngine(`unix://${door.path}`), gateway: "test" }),
            request: {
              image: { name: STAND_IN_IMAGE },
              command: ["sleep", "1000"],
              options: {},
              access: { url: "http://127.0.0.1:9", token: "secret" },
            },
            breakBackend: () => {
              door.close();
              return Promise.resolve();
            },
          }),
        ).finally(() => door.close());
      });
    }
  },
);
