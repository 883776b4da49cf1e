import { readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { InstanceRef, Start } from "./driver.js";

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

  get rootfs(): string {
    return join(this.image, "rootfs");
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

export function isNewer(start: Start, than: Start): boolean {
  if (start.attemptNumber !== than.attemptNumber) return start.attemptNumber > than.attemptNumber;
  return start.run > than.run;
}

/** Removes what this start and those before it staged. A newer one may be at work there, and keeps its own. */
export async function removeStaging(dirs: SandboxDirs, upTo: Start): Promise<void> {
  const names = await readdir(dirs.staging).catch(() => []);
  for (const name of names) {
    const [attemptNumber = 0, run = 0] = name.split(".").map(Number);
    if (isNewer({ attemptNumber, run }, upTo)) continue;
    await rm(join(dirs.staging, name), { recursive: true, force: true });
  }
  // Not empty while a newer start works there; that one removes it.
  await rmdir(dirs.staging).catch(() => undefined);
}
