import { systemClock } from "slipway";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DriverProgress, LaunchRequest } from "../src/driver/driver.js";
import { ProcessDriver } from "../src/driver/process-driver.js";
import type { JsonObject } from "../src/record/json.js";
import { directoryImage } from "./images.js";
import { tempDir } from "./temp-dir.js";

export const sandbox = { id: "sb-1", name: "box" };
/** In the image. */
export const BYTES = 2_000_000;
export const work = { signal: new AbortController().signal };

/** A process driver with a data directory and an image of its own; its supervisors do nothing, for ever. */
export class ProcessDriverBench {
  readonly dir: string;
  readonly image: string;
  readonly driver: ProcessDriver;

  private constructor(dir: string, image: string, driver: ProcessDriver) {
    this.dir = dir;
    this.image = image;
    this.driver = driver;
  }

  static async open(): Promise<ProcessDriverBench> {
    const dir = await tempDir();
    const image = join(dir, "image");
    await directoryImage(image, BYTES);
    const supervisorProgram = join(dir, "supervisor.mjs");
    await writeFile(supervisorProgram, "setInterval(() => undefined, 1000);\n");
    const driver = new ProcessDriver({ clock: systemClock, dataDir: dir, supervisorProgram });
    return new ProcessDriverBench(dir, image, driver);
  }

  request(options: JsonObject = {}, path = this.image, run = 1): LaunchRequest {
    return {
      sandbox,
      instance: { id: `instance-${run}`, attemptNumber: 1, run },
      image: { name: "demo-image", path },
      command: ["true"],
      options,
      access: { url: "http://127.0.0.1:1", token: "secret" },
    };
  }

  staged(): Promise<string[]> {
    return readdir(join(this.dir, "sandboxes", sandbox.id, "staging")).catch((): string[] => []);
  }
}

/** Begins a launch, and takes what the driver reports of it down. */
export function launchOn(driver: ProcessDriver, of: LaunchRequest, signal = new AbortController().signal) {
  const reports: DriverProgress[] = [];
  const handle = driver.launch(of, { signal, report: (progress) => reports.push(progress) });
  return { handle, reports };
}
