import { readdir, readFile } from "node:fs/promises";

/** A running process of a sandbox. */
export interface MarkedProcess {
  readonly pid: number;
  readonly sandbox: string;
  /** Attempt and run, as in `2.3`. */
  readonly start: string;
}

/** Every running process that carries the mark of a sandbox below this folder. Linux only; elsewhere none is found. */
export async function markedBelow(dataDir: string): Promise<readonly MarkedProcess[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => markedProcess(Number(pid), dataDir)));
  return found.flatMap((each) => (each === null ? [] : [each]));
}

async function markedProcess(pid: number, dataDir: string): Promise<MarkedProcess | null> {
  const text = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
  const env = new Map(
    text.split("\0").map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name, value.join("=")];
    }),
  );
  const sandbox = env.get("SLIPWAY_SANDBOX");
  if (sandbox === undefined || env.get("SLIPWAY_IMAGE")?.startsWith(dataDir) !== true) return null;
  return { pid, sandbox, start: env.get("SLIPWAY_START") ?? "" };
}

/** Ends what a run left running, whatever became of its gateways. */
export async function endMarked(dataDir: string): Promise<void> {
  for (const { pid } of await markedBelow(dataDir)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
}
