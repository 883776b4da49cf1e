import { systemClock } from "slipway";
import { observationSourceConformance } from "slipway/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, it } from "vitest";
import { ProcessDriver } from "../src/driver/process-driver.js";
import { driverSubject } from "../src/testing/driver-subject.js";
import { directoryImage } from "./images.js";
import { tempDir } from "./temp-dir.js";

/** Stands in for the supervisor: the suite is about what the driver sees. */
const SUPERVISOR = "setInterval(() => undefined, 1000);\n";

describe.runIf(process.platform === "linux")("the process driver", () => {
  const open: ProcessDriver[] = [];

  afterEach(async () => {
    const { signal } = new AbortController();
    for (const driver of open.splice(0)) {
      const { items } = await driver.list(null);
      for (const { id } of items) await driver.remove({ id, name: id }, { signal });
    }
  });

  for (const { name, run } of observationSourceConformance) {
    it(name, { timeout: 120_000 }, async () => {
      await run(async () => {
        const dataDir = await tempDir();
        const image = join(dataDir, "image");
        await directoryImage(image, 1000);
        const supervisorProgram = join(dataDir, "supervisor.mjs");
        await writeFile(supervisorProgram, SUPERVISOR);
        const driver = new ProcessDriver({ clock: systemClock, dataDir, supervisorProgram });
        open.push(driver);
        return driverSubject({
          driver,
          request: {
            image: { name: "demo-image", path: image },
            command: ["true"],
            options: {},
            access: { url: "http://127.0.0.1:1", token: "secret" },
          },
        });
      });
    });
  }
});
