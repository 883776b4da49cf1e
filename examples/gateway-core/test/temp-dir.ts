import { afterEach, vi } from "vitest";
import { TempDirs } from "../src/testing/temp-dirs.js";

// Whoever writes to a real disk or starts real processes waits for a machine that others use as well.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const made = new TempDirs();

afterEach(() => made.remove());

/** A fresh directory that is removed after the test. */
export function tempDir(): Promise<string> {
  return made.make();
}
