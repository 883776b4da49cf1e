import { isAlive } from "@slipway-examples/gateway-core";
import type { Clock } from "slipway";
import { observeQemu, type ExpectedRun, type Observation } from "slipway/phase";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readEnd, readNote, writeEnd, type MachineNote } from "./machine-note.js";
import { ENDED, killMachine } from "./machine.js";
import { consoleOf, statusOf, withMonitor } from "./monitor.js";
import { OVERLAY, ROOTFS } from "./qemu-arguments.js";
import { settledEnd } from "./settled-end.js";

/** For which run is looked, when that began, and what an end that is not told yet is waited for by. */
interface LookOptions {
  readonly run: ExpectedRun;
  readonly observedAt: number;
  readonly clock: Clock;
}

const MONITOR_LIMIT_MS = 3000;

/**
 * What a machine's directory and its monitor show, `null` when nothing was ever started there.
 *
 * A machine whose guest has ended is asked a last time, the answer is written down, and only then is it let go: the
 * next look, be it of another process, says the same, and the guest's memory is free.
 */
export async function observeMachine(directory: string, options: LookOptions): Promise<Observation | null> {
  const note = await readNote(directory);
  if (note === null) return null;
  if ((await readEnd(directory)) === null && note.process !== null && (await isAlive(note.process))) {
    const seen = await observeLive(directory, note, note.process, options);
    if (seen !== null) return seen;
  }
  // How a machine ended whose end was asked for is no news.
  const isAskedFor = (options.run.desired ?? "running") !== "running";
  const isTold = note.process === null || isAskedFor;
  const end = await (isTold ? readEnd(directory) : settledEnd(directory, options.clock));
  // Removed meanwhile, or never started.
  if (end === null && (note.process === null || (await readNote(directory)) === null)) return null;
  await letGo(directory);
  const ended = { alive: false, exitCode: null, signal: null, ...end?.process };
  const { instanceId } = note;
  if (end?.status === undefined) {
    return observeQemu({ qmp: null, process: { ...ended, instanceId } }, options);
  }
  const seen = observeQemu({ qmp: { return: end.status }, process: { instanceId } }, options);
  return { ...seen, workload: "absent", message: seen.failureReason === null ? null : (end.console ?? null) };
}

/** What a machine says whose process lives; `null` when its end has been written down by that. */
async function observeLive(
  directory: string,
  { instanceId }: MachineNote,
  process: NonNullable<MachineNote["process"]>,
  options: LookOptions,
): Promise<Observation | null> {
  const input = { process: { pid: process.pid, alive: true, instanceId } };
  try {
    const { status, console } = await withMonitor(process, MONITOR_LIMIT_MS, async (client) => {
      const answer = await statusOf(client);
      return { status: answer, console: ENDED.has(answer.status) ? await consoleOf(client) : "" };
    });
    if (!ENDED.has(status.status)) return observeQemu({ ...input, qmp: { return: status } }, options);
    await writeEnd(directory, { status, console });
  } catch (error) {
    if (!(await isAlive(process))) return null;
    const qmp = { error: { transport: error instanceof Error ? error.message : String(error) } };
    return observeQemu({ ...input, qmp }, options);
  }
  await killMachine(process);
  return null;
}

/** What a machine that has ended needs no more: what its guest wrote outside its workspace, and its hold on the image. */
async function letGo(directory: string): Promise<void> {
  await Promise.all([OVERLAY, ROOTFS].map((name) => rm(join(directory, name), { force: true })));
}
