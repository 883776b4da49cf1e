import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile, rename, writeFile } from "node:fs/promises";
import { z } from "zod";
import { PermanentDriverError, type InstanceRef, type LaunchRequest, type Start } from "./driver.js";
import { readStartMarker, type ProcessIdentity } from "./process-identity.js";
import { markOf } from "./sandbox-mark.js";
import { isNewer, type SandboxDirs } from "./sandbox-dirs.js";

/** The note a driver leaves about the supervisor it started, so that the next gateway process finds it. */
const noteSchema = z.strictObject({
  instanceId: z.string(),
  attemptNumber: z.int().default(0),
  run: z.int(),
  pid: z.int().positive(),
  startMarker: z.string(),
});

export type SupervisorNote = z.infer<typeof noteSchema>;

/** Variables of this process that the sandbox gets as well. Everything else is not its business. */
const INHERITED = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "NODE_EXTRA_CA_CERTS"];

/** Starts the supervisor as the leader of its own group: it outlives the gateway, and can be ended as a whole. */
export async function startSupervisor(
  request: LaunchRequest,
  dirs: SandboxDirs,
  program: string,
): Promise<ProcessIdentity> {
  const { access, instance, sandbox } = request;
  await mkdir(dirs.workspace, { recursive: true });
  const { rootfs } = dirs;
  const log = await open(dirs.log, "a", 0o600);
  try {
    const child = spawn(process.execPath, [program], {
      cwd: dirs.workspace,
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
      env: {
        ...Object.fromEntries(INHERITED.flatMap((name) => pair(name, process.env[name]))),
        SLIPWAY_GATEWAY_URL: access.url,
        SLIPWAY_TOKEN: access.token,
        ...(access.budgetMs === undefined ? undefined : { SLIPWAY_BUDGET_MS: String(access.budgetMs) }),
        ...markOf(sandbox, dirs, instance),
        SLIPWAY_RUN: String(instance.run),
        SLIPWAY_NOTE: dirs.identity,
        SLIPWAY_COMMAND: JSON.stringify(request.command.map((word) => word.replaceAll("{image}", rootfs))),
      },
    });
    await once(child, "spawn");
    child.unref();
    const pid = child.pid ?? 0;
    const identity = { pid, startMarker: (await readStartMarker(pid)) ?? "" };
    try {
      await refuseOvertaken(dirs, instance);
    } catch (error) {
      child.kill("SIGKILL");
      throw error;
    }
    const { id: instanceId, attemptNumber, run } = instance;
    await writeNote(dirs, { instanceId, attemptNumber, run, ...identity });
    return identity;
  } catch (error) {
    throw isRefusedForGood(error)
      ? new PermanentDriverError("LocalCommandTooLong", textOf(error), { cause: error })
      : error;
  } finally {
    await log.close();
  }
}

/** A command that the system does not take today it does not take tomorrow. */
function isRefusedForGood(error: unknown): boolean {
  return (error as { code?: unknown }).code === "E2BIG";
}

function textOf(error: unknown): string {
  return `The supervisor cannot be started: ${error instanceof Error ? error.message : String(error)}`;
}

/** The note about an instance's supervisor, `null` when there is none or it is about another instance. */
export async function readNote(dirs: SandboxDirs, instance?: InstanceRef): Promise<SupervisorNote | null> {
  const text = await readFile(dirs.identity, "utf8").catch(() => null);
  if (text === null) return null;
  const note = noteSchema.safeParse(parseJson(text));
  if (!note.success) return null;
  const matches = instance === undefined || note.data.instanceId === instance.id;
  return matches ? note.data : null;
}

/**
 * Stops a start that another one has overtaken: the gateway that asked for it lost its lease and does not know yet.
 * It must neither end what the newer one started nor replace its image.
 */
export async function refuseOvertaken(dirs: SandboxDirs, start: Start): Promise<void> {
  const note = await readNote(dirs);
  if (note !== null && isNewer(note, start)) throw new OvertakenError(start, note);
}

/** An ordinary failure, and no permanent one: nothing is wrong with what was asked for. */
class OvertakenError extends Error {
  override readonly name = "OvertakenError";

  constructor(start: Start, by: Start) {
    const text = ({ attemptNumber, run }: Start): string => `run ${run} of attempt ${attemptNumber}`;
    super(`${text(start)} was overtaken by ${text(by)}`);
  }
}

/** Written beside and renamed, so that a reader finds the old note or the new one and never half of one. */
async function writeNote(dirs: SandboxDirs, note: SupervisorNote): Promise<void> {
  const beside = `${dirs.identity}.${note.attemptNumber}.${note.run}`;
  await writeFile(beside, JSON.stringify(note), { mode: 0o600 });
  await rename(beside, dirs.identity);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function pair(name: string, value: string | undefined): [string, string][] {
  return value === undefined ? [] : [[name, value]];
}
