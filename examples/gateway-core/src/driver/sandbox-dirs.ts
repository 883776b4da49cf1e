import { join } from "node:path";
import type { InstanceRef } from "./driver.js";

/** Where one sandbox's files are. Everything of it is below one directory, so that nothing can be left elsewhere. */
export class SandboxDirs {
  readonly root: string;

  constructor(dataDir: string, sandboxId: string) {
    this.root = join(dataDir, "sandboxes", sandboxId);
  }

  /** Outlives every attempt. */
  get workspace(): string {
    return join(this.root, "workspace");
  }

  /** The complete image, renamed into place. Its presence means that it is complete. */
  get image(): string {
    return join(this.root, "image");
  }

  /** What is being prepared, one directory for each run, so that two of them never write to one place. */
  get staging(): string {
    return join(this.root, "staging");
  }

  stagingOf(instance: InstanceRef): string {
    return join(this.staging, `${instance.attemptNumber}.${instance.run}`);
  }

  /** Which supervisor was started last. */
  get identity(): string {
    return join(this.root, "supervisor.json");
  }

  get log(): string {
    return join(this.root, "supervisor.log");
  }
}
