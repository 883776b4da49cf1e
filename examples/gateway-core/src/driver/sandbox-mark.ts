import { readFile } from "node:fs/promises";
import type { SandboxRef, Start } from "./driver.js";
import { linuxProcesses } from "./process-identity.js";
import { isNewer, type SandboxDirs } from "./sandbox-dirs.js";

/**
 * What every process of a sandbox has in its environment, and hands on to its children: whose it is, where that
 * sandbox is kept, and which start it belongs to.
 */
export function markOf(sandbox: SandboxRef, dirs: SandboxDirs, start: Start): Record<string, string> {
  return {
    SLIPWAY_SANDBOX: sandbox.id,
    SLIPWAY_IMAGE: dirs.rootfs,
    SLIPWAY_START: `${start.attemptNumber}.${start.run}`,
  };
}

/**
 * Ids of the running processes that carry a sandbox's mark, of the starts up to the given one: also those that left
 * the supervisor's group with `setsid`. Only Linux shows the environment of a process; elsewhere nobody is found, so
 * that a process that left the group there outlives its sandbox, as one does everywhere that cleared its environment.
 */
export async function markedProcesses(
  sandbox: SandboxRef,
  dirs: SandboxDirs,
  upTo?: Start,
): Promise<readonly number[]> {
  if (process.platform !== "linux") return [];
  return linuxProcesses(async (pid) => {
    if (pid === process.pid) return false;
    // Empty for a zombie, and refused for a process of another user.
    const words = (await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")).split("\0");
    const here = words.includes(`SLIPWAY_IMAGE=${dirs.rootfs}`);
    const mine = here && words.includes(`SLIPWAY_SANDBOX=${sandbox.id}`);
    return mine && (upTo === undefined || !isNewer(startIn(words), upTo));
  });
}

function startIn(words: readonly string[]): Start {
  const text = words.find((word) => word.startsWith("SLIPWAY_START="))?.slice("SLIPWAY_START=".length);
  const [attemptNumber = 0, run = 0] = (text ?? "0.0").split(".").map(Number);
  return { attemptNumber, run };
}
