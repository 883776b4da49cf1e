import { isAlive, readStartMarker, type ProcessIdentity } from "@slipway-examples/gateway-core";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "slipway";
import { setTimeout as delay } from "node:timers/promises";
import { lastWords, TOOL_ENV } from "../run-tool.js";
import { nameOf, statusOf, withMonitor } from "./monitor.js";
import { writeEnd, writeNote } from "./machine-note.js";
import { qemuArguments, START, type MachineSpec } from "./qemu-arguments.js";

const START_LIMIT_MS = 30_000;
const MONITOR_LIMIT_MS = 2000;
const POLL_MS = 100;
const PRESS_EVERY_MS = 1000;
const LOG = "qemu.log";

/** States from which a guest does not go on. */
export const ENDED: ReadonlySet<string> = new Set(["shutdown", "guest-panicked", "internal-error"]);

export interface MachineStart {
  readonly directory: string;
  readonly qemu: string;
  readonly instanceId: string;
  readonly spec: MachineSpec;
  readonly signal: AbortSignal;
  readonly onExit: () => void;
}

/**
 * Starts a machine in its directory, where its overlay and what its guest is told are already. QEMU leads a group of
 * its own and outlives this process. Resolves once it answers; whatever goes wrong before that, it is ended.
 */
export async function startMachine(start: MachineStart): Promise<ProcessIdentity> {
  const { directory, instanceId, spec, signal } = start;
  await writeNote(directory, { instanceId, process: null });
  const log = await open(join(directory, LOG), "w", 0o600);
  try {
    const child = spawn(start.qemu, qemuArguments(spec), {
      cwd: directory,
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
      env: TOOL_ENV,
    });
    child.on("exit", (exitCode, by) => {
      // What cannot be written down is seen later as an end that nobody explains.
      const written = writeEnd(directory, { process: { exitCode, signal: by } }).catch(() => undefined);
      void written.finally(start.onExit);
    });
    child.on("error", () => undefined);
    await once(child, "spawn");
    child.unref();
    const pid = child.pid ?? 0;
    const identity = { pid, startMarker: (await readStartMarker(pid)) ?? "" };
    try {
      await writeNote(directory, { instanceId, process: identity });
      await answers(identity, spec.name, signal);
    } catch (error) {
      await killMachine(identity);
      signal.throwIfAborted();
      const words = lastWords(await readFile(join(directory, LOG), "utf8").catch(() => ""));
      throw new Error(`QEMU does not come up: ${words || textOf(error)}`, { cause: error });
    }
    return identity;
  } finally {
    await log.close();
    // QEMU read it when it started; it has the attempt's token.
    await rm(join(directory, START), { force: true });
  }
}

async function answers(identity: ProcessIdentity, name: string, signal: AbortSignal): Promise<void> {
  const until = systemClock.now() + START_LIMIT_MS;
  for (;;) {
    signal.throwIfAborted();
    try {
      const found = await withMonitor(identity, MONITOR_LIMIT_MS, nameOf);
      if (found !== name) throw new Error(`the monitor is of ${found ?? "nobody"}`);
      return;
    } catch (error) {
      if (systemClock.now() >= until || !(await isAlive(identity))) throw error;
    }
    await delay(POLL_MS, undefined, { signal });
  }
}

/** Presses the power button until the guest has switched itself off, for at most so long; then lets the machine go. */
export async function endMachine(
  identity: ProcessIdentity,
  graceMs: number,
  signal: AbortSignal,
): Promise<void> {
  const until = systemClock.now() + graceMs;
  let pressAt = systemClock.now();
  while (systemClock.now() < until && (await isAlive(identity))) {
    signal.throwIfAborted();
    const press = systemClock.now() >= pressAt;
    if (press) pressAt = systemClock.now() + PRESS_EVERY_MS;
    // A machine that does not answer is killed below.
    const over = await withMonitor(identity, MONITOR_LIMIT_MS, (client) => powerDown(client, press)).catch(
      () => true,
    );
    if (over) break;
    await delay(POLL_MS, undefined, { signal });
  }
  await killMachine(identity);
}

type Client = Parameters<typeof statusOf>[0];

/** Whether the guest is over; while it is not, and it is time, the button is pressed. */
async function powerDown(client: Client, press: boolean): Promise<boolean> {
  const { status } = await statusOf(client);
  if (ENDED.has(status)) return true;
  if (!press) return false;
  // A paused guest does not hear the button.
  if (status !== "running") await client.execute("cont");
  await client.execute("system_powerdown");
  return false;
}

/** Ends QEMU and what it started. Resolves when it is gone. */
export async function killMachine(identity: ProcessIdentity): Promise<void> {
  while (await isAlive(identity)) {
    try {
      process.kill(-identity.pid, "SIGKILL");
    } catch (error) {
      if ((error as { code?: unknown }).code !== "ESRCH") throw error;
    }
    await delay(POLL_MS / 5);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
