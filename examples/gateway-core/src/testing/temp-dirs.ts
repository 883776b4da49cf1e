import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Fresh directories, removed together. */
export class TempDirs {
  readonly #made: string[] = [];

  async make(): Promise<string> {
    const path = await realpath(await mkdtemp(join(tmpdir(), "slipway-test-")));
    this.#made.push(path);
    return path;
  }

  async remove(): Promise<void> {
    await Promise.all(this.#made.splice(0).map((path) => rm(path, { recursive: true, force: true })));
  }
}
