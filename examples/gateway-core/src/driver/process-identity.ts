import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * A process as something that can be recognised later. A bare process id is not enough: the system hands it out
 * again, and then a stranger would be taken for the supervisor, or killed as one.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** When the process started, as its system counts it. */
  readonly startMarker: string;
}

/** The start marker of whatever runs under a process id now, `null` when nothing does. */
export async function readStartMarker(pid: number): Promise<string | null> {
  return process.platform === "linux" ? linuxMarker(pid) : portableMarker(pid);
}

/** Whether exactly this process still runs. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  return (await readStartMarker(identity.pid)) === identity.startMarker;
}

let bootId: Promise<string> | undefined;

async function linuxMarker(pid: number): Promise<string | null> {
  const stat = await readStat(pid);
  // A zombie has ended, though its parent has not looked yet.
  if (stat === null || stat.state === "Z" || stat.state === "X") return null;
  bootId ??= readFile("/proc/sys/kernel/random/boot_id", "utf8").then(
    (text) => text.trim(),
    () => "",
  );
  return `${await bootId}/${stat.startTicks}`;
}

interface Stat {
  readonly state: string;
  readonly group: number;
  readonly startTicks: string;
}

async function readStat(pid: number): Promise<Stat | null> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (text === null) return null;
  // The name in parentheses may contain anything; the fields after the last one are plain.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "X", group: Number(fields[2]), startTicks: fields[19] ?? "" };
}

async function portableMarker(pid: number): Promise<string | null> {
  const { stdout } = await run("ps", ["-o", "stat=,lstart=", "-p", String(pid)]).catch(() => ({
    stdout: "",
  }));
  const text = stdout.trim();
  return text === "" || text.startsWith("Z") ? null : text.replace(/^\S+\s+/, "");
}

/** Ids of the processes of a group that are still running. */
export async function groupMembers(group: number): Promise<readonly number[]> {
  return process.platform === "linux" ? linuxMembers(group) : portableMembers(group);
}

async function linuxMembers(group: number): Promise<readonly number[]> {
  return linuxProcesses(async (pid) => {
    const stat = await readStat(pid);
    return stat?.group === group && stat.state !== "Z" && stat.state !== "X";
  });
}

async function portableMembers(group: number): Promise<readonly number[]> {
  const listing = run("ps", ["-A", "-o", "pid=,pgid=,stat="]);
  const { stdout } = await listing;
  return stdout.split("\n").flatMap((line) => {
    const [pid, of, state = ""] = line.trim().split(/\s+/);
    // The lister itself is in the group of whoever asks about its own.
    const other = Number(pid) !== listing.child.pid;
    return other && Number(of) === group && !state.startsWith("Z") ? [Number(pid)] : [];
  });
}

/** Ids of all processes of a Linux system of which something is true. */
export async function linuxProcesses(is: (pid: number) => Promise<boolean>): Promise<readonly number[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(ids.map(async (pid) => ((await is(pid)) ? [pid] : [])));
  return found.flat();
}
