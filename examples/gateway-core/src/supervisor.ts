import { fileURLToPath } from "node:url";
import { runSidecar, SIDECAR_WORD } from "./supervisor/enforcement/sidecar.js";
import { DismissedError } from "./supervisor/gateway-link.js";
import { TERMINATED } from "./supervisor/main-process.js";
import { readSettings } from "./supervisor/settings.js";
import { Supervisor } from "./supervisor/supervise.js";
import { writtenDown } from "./supervisor/written-down.js";

/** How long a report may take that was under way. */
const REPORT_GRACE_MS = 1000;
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
  const cancelBootstrap = (): void => {
    cancel.abort(new Error("the supervisor was told to end"));
    setTimeout(() => {
      // Else the run was claimed at the same moment: what is started of it ends in good order.
      if (supervisor.isBootstrapping) process.exit(TERMINATED);
    }, CANCEL_GRACE_MS).unref();
  };
  process.on("SIGTERM", () => {
    if (supervisor.isBootstrapping) cancelBootstrap();
    else
      void supervisor.leave().then((code) => {
        if (code !== null) setTimeout(() => process.exit(code), REPORT_GRACE_MS);
      });
  });
  // Whoever started this program in the same process asks the workload with it; else it is a terminal, which does, and
  // whose second interrupt ends this program as it ends any.
  process.once("SIGINT", () => {
    if (supervisor.isBootstrapping) cancelBootstrap();
    else void supervisor.workloadWasAsked();
  });
  try {
    await writtenDown(settings.note, process.pid);
    return await supervisor.run();
  } catch (error) {
    console.error(error instanceof DismissedError ? `Dismissed: ${error.message}` : error);
    await supervisor.seeToWorkload();
    return 1;
  } finally {
    await supervisor.close();
  }
}

if (process.argv[2] === SIDECAR_WORD) await runSidecar();
else process.exit(await supervise());
