import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, vi } from "vitest";

// Whoever writes to a real disk or starts real processes waits for a machine that others use as well.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 30_000 });

const made: string[] = [];

afterEach(async () => {
  await Promise.all(made.splice(0).map((path) => rm(path, { recursive: true, force: true })));
});

/** A fresh directory that is removed after the test. */
export async function tempDir(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "slipway-test-")));
  made.push(path);
  return path;
}
