import { link, mkdir, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { runTool } from "../run-tool.js";
import type { VmOptions } from "../vm-options.js";
import { OVERLAY } from "./qemu-arguments.js";

/** Makes the disk of one start, and the sandbox's own where there is none yet. Both take room as they are written. */
export async function prepareDisks(
  directory: string,
  workspace: string,
  options: VmOptions,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // No journal: after a crash of its guest nobody reads it again.
  await makeDisk(join(directory, OVERLAY), options.overlayMb, ["-O", "^has_journal"], signal);
  if (await exists(workspace)) return;
  const beside = join(directory, `workspace.${randomUUID()}`);
  try {
    await makeDisk(beside, options.workspaceMb, ["-J", "size=4"], signal);
    // Never over one that is there: it may hold somebody's work by now.
    await link(beside, workspace).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== "EEXIST") throw error;
    });
  } finally {
    await rm(beside, { force: true });
  }
}

async function makeDisk(
  file: string,
  megabytes: number,
  features: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const handle = await open(file, "w", 0o600);
  await handle.truncate(megabytes * 1024 * 1024).finally(() => handle.close());
  await runTool("mke2fs", ["-q", "-F", "-t", "ext4", "-m", "0", ...features, file], signal);
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
