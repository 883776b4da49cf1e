import type { SandboxView } from "../http/view.js";
import { isComingUp } from "../record/phase.js";
import { LiveView } from "../terminal/live-view.js";
import { printJson, type CommandContext } from "./context.js";

/** Exit codes that say how a sandbox that was followed ended up. */
export const EXIT_FAILED = 1;
export const EXIT_GONE = 3;

/** Shows a sandbox until `until` holds; the exit code that tells how it ended. */
export async function follow(
  { client, json }: CommandContext,
  sandbox: string,
  until: (view: SandboxView) => boolean,
): Promise<number> {
  const live = new LiveView(process.stderr, Date.now);
  const abort = new AbortController();
  try {
    for await (const view of client.watch(sandbox, abort.signal)) {
      if (json) printJson(view);
      else live.show(view);
      if (until(view)) return view.phase === "Error" ? EXIT_FAILED : 0;
    }
    return EXIT_GONE;
  } finally {
    abort.abort();
    live.end();
  }
}

/** Whether an attempt has come to an end, one way or the other. */
export function hasSettled(view: SandboxView): boolean {
  return !isComingUp(view.phase) && view.phase !== "Stopping" && !view.startPending;
}
