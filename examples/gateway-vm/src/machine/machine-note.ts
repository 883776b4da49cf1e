import { linuxProcesses, readStartMarker, type ProcessIdentity } from "@slipway-examples/gateway-core";
import { link, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { readJson, writeJson } from "../json-file.js";

const identitySchema = z.object({ pid: z.int().positive(), startMarker: z.string() });

const noteSchema = z.object({ instanceId: z.string(), process: identitySchema.nullable() });

const endSchema = z.object({
  /** What the launcher saw of the process, when it ended before its machine was asked. */
  process: z.object({ exitCode: z.number().nullable(), signal: z.string().nullable() }).optional(),
  /** What the monitor said of a machine that had ended, before it was let go. */
  status: z.unknown().optional(),
  /** The last of the console. */
  console: z.string().optional(),
});

export type MachineNote = z.infer<typeof noteSchema>;
export type MachineEnd = z.infer<typeof endSchema>;

/** Says whose machine is in a directory: first without a process, and again once there is one. */
export async function writeNote(directory: string, note: MachineNote): Promise<void> {
  await writeJson(join(directory, "machine.json"), note);
}

/** Whose machine is in a directory; `null` when nobody has said yet. Finds one that was started and not written down. */
export async function readNote(directory: string): Promise<MachineNote | null> {
  const note = await readJson(join(directory, "machine.json"), noteSchema);
  if (note === null || note.process !== null) return note;
  return { ...note, process: await processIn(directory) };
}

/** How a machine ended. What was written first stands: the end of a process that was let go says nothing new. */
export async function writeEnd(directory: string, end: MachineEnd): Promise<void> {
  const file = join(directory, "end.json");
  const beside = `${file}.${randomUUID()}`;
  try {
    await writeFile(beside, JSON.stringify(end), { mode: 0o600 });
    await link(beside, file);
  } catch (error) {
    const { code } = error as { code?: unknown };
    // The directory of a start that was given up is gone, and nobody asks about it any more.
    if (code !== "EEXIST" && code !== "ENOENT") throw error;
  } finally {
    await rm(beside, { force: true });
  }
}

export async function readEnd(directory: string): Promise<MachineEnd | null> {
  return readJson(join(directory, "end.json"), endSchema);
}

/** The QEMU whose working directory this is: nobody else works there. */
async function processIn(directory: string): Promise<ProcessIdentity | null> {
  const [pid] = await linuxProcesses(async (candidate) => {
    const cwd = await readlink(`/proc/${candidate}/cwd`).catch(() => null);
    if (cwd !== directory) return false;
    const words = await readFile(`/proc/${candidate}/cmdline`, "utf8").catch(() => "");
    return words.includes("\0-qmp\0");
  });
  const startMarker = pid === undefined ? null : await readStartMarker(pid);
  return pid === undefined || startMarker === null ? null : { pid, startMarker };
}
