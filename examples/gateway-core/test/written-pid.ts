import { readFile } from "node:fs/promises";
import { eventually } from "../src/testing/eventually.js";

/** The process id that a workload wrote down. Its file is there, and empty, a moment before it is written. */
export function writtenPid(path: string): Promise<number> {
  return eventually(`a process id in ${path}`, async () => {
    const text = await readFile(path, "utf8").catch(() => "");
    return Number(text.trim()) || null;
  });
}
