import { fileURLToPath } from "node:url";
import { runSidecar, SIDECAR_WORD } from "./supervisor/enforcement/sidecar.js";
import { DismissedError } from "./supervisor/gateway-link.js";
import { readSettings } from "./supervisor/settings.js";
import { Supervisor } from "./supervisor/supervise.js";
import { writtenDown } from "./supervisor/written-down.js";

const TERMINATED = 128 + 15;
const CANCEL_GRACE_MS = 500;

/**
 * The program inside a sandbox, and, called with one word, the sidecar that enforces its network policy: one file, so
 * that an image carries one.
 */
async function supervise(): Promise<number> {
  const settings = readSettings(process.env);
  const cancel = new AbortController();
  const program = fileURLToPath(import.meta.url);
  const log = (line: string): void => console.error(`${new Date().toISOString()} ${line}`);
  const supervisor = new Supervisor({ settings, program, signal: cancel.signal, log });
  process.once("SIGTERM", () => {
    // The main process has its own signal, and its group's end is the driver's to see to.
    if (!supervisor.isBootstrapping) process.exit(TERMINATED);
    cancel.abort(new Error("the supervisor was told to end"));
    setTimeout(() => process.exit(TERMINATED), CANCEL_GRACE_MS).unref();
  });
  try {
    await writtenDown(settings.note, process.pid);
    return await supervisor.run();
  } catch (error) {
    console.error(error instanceof DismissedError ? `Dismissed: ${error.message}` : error);
    endGroup();
    return 1;
  }
}

/** A workload is not left behind by a supervisor that has nobody to report to. */
function endGroup(): void {
  try {
    process.kill(-process.pid, "SIGTERM");
  } catch {
    // Started by hand, and not as the leader of a group: there is nothing of ours to end.
  }
}

if (process.argv[2] === SIDECAR_WORD) await runSidecar();
else process.exit(await supervise());
