import { ApiError } from "../client/gateway-client.js";
import type { SandboxView } from "../http/view.js";
import { isComingUp } from "../record/phase.js";
import { LiveView, type Shown } from "../terminal/live-view.js";
import { printJson, type CommandContext } from "./context.js";

/** Exit codes that say how a sandbox that was followed ended up. */
export const EXIT_FAILED = 1;
export const EXIT_GONE = 3;

/** Shows a sandbox until `until` holds; the exit code that tells how it ended. */
export async function follow(
  { client, json }: CommandContext,
  sandbox: string,
  until: (view: SandboxView) => boolean,
  shown: Shown = "work",
): Promise<number> {
  const live = new LiveView(process.stderr, Date.now, shown);
  let name = sandbox;
  const abort = new AbortController();
  try {
    for await (const view of client.watch(sandbox, abort.signal)) {
      name = view.name;
      if (json) printJson(view);
      else live.show(view);
      if (until(view)) return view.phase === "Error" ? EXIT_FAILED : 0;
    }
    if (!json) live.gone(name);
    return EXIT_GONE;
  } finally {
    abort.abort();
    live.end();
  }
}

/** Follows a sandbox that is being deleted. Gone is what was asked for, also when it is gone before the first look. */
export async function followToTheEnd(
  context: CommandContext,
  { id, name }: Pick<SandboxView, "id" | "name">,
): Promise<number> {
  try {
    const exitCode = await follow(context, id, () => false, "phase");
    return exitCode === EXIT_GONE ? 0 : exitCode;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    if (!context.json) new LiveView(process.stderr, Date.now, "phase").gone(name);
    return 0;
  }
}

/** Whether an attempt has come to an end, one way or the other. */
export function hasSettled(view: SandboxView): boolean {
  return !isComingUp(view.phase) && view.phase !== "Stopping" && !view.startPending;
}
