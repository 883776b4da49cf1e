import { isAlive, readStartMarker } from "@slipway-examples/gateway-core";
import type Docker from "dockerode";
import { mkdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { ExportContainer } from "./image/docker-export.js";
import { dropPacked } from "./image/image-cache.js";
import { readJson, writeJson } from "./json-file.js";
import { isNewer, type SandboxDirs, type Start } from "./sandbox-dirs.js";

const ownerSchema = z.object({ pid: z.int().positive(), startMarker: z.string() });

/** Makes the directory in which this process prepares a start, and says in it who does. */
export async function claimStaging(staging: string): Promise<void> {
  await mkdir(staging, { recursive: true, mode: 0o700 });
  await writeJson(ownerIn(staging), { pid: process.pid, startMarker: await readStartMarker(process.pid) });
}

/** Whether a process that lives is preparing a start. */
export async function isBeingPrepared(dirs: SandboxDirs): Promise<boolean> {
  for (const start of await dirs.staged()) {
    const owner = await readJson(ownerIn(dirs.stagingOf(start)), ownerSchema);
    if (owner !== null && (await isAlive(owner))) return true;
  }
  return false;
}

/**
 * Removes what the starts up to the given one have staged: first what takes room, then what an engine has to do.
 * Rejects when the engine does not do it; what is owed stays noted.
 */
export async function unstage(dirs: SandboxDirs, docker: Docker, upTo?: Start): Promise<void> {
  const staged = (await dirs.staged()).filter((start) => upTo === undefined || !isNewer(start, upTo));
  const directories = staged.map((start) => dirs.stagingOf(start));
  for (const directory of directories) await dropPacked(directory);
  for (const directory of directories) {
    await rm(ownerIn(directory), { force: true });
    await (await ExportContainer.noted(docker, directory))?.remove();
    await rm(directory, { recursive: true, force: true });
  }
  await rmdir(join(dirs.root, "staging")).catch(() => undefined);
}

function ownerIn(staging: string): string {
  return join(staging, "owner.json");
}
