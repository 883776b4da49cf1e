import { getCondition } from "slipway";
import { ApiError } from "../client/gateway-client.js";
import { PREPARATION } from "../gateway/budgets.js";
import type { SandboxView } from "../http/view.js";
import { isAtRest, isComingUp } from "../record/phase.js";
import { safeText } from "../terminal/safe-text.js";
import { printJson, type CommandContext } from "./context.js";
import { EXIT_FAILED } from "./follow.js";

/** A supervisor that is there judges at once, also on a busy machine; what is slower is to be looked up. */
const VERDICT_LIMIT_MS = 15_000;

interface Verdict {
  readonly accepted: boolean;
  readonly message: string;
}

/** What the supervisor said of this generation, `null` before it has. */
function verdictOf({ conditions }: Pick<SandboxView, "conditions">, generation: number): Verdict | null {
  const judged = getCondition(conditions, "ConfigurationReady");
  if (judged === undefined || judged.observedGeneration !== generation || judged.status === "Unknown")
    return null;
  return { accepted: judged.status === "True", message: judged.message };
}

/** Whether there is a supervisor that can judge: not while its image is prepared, nor where nothing runs. */
function isJudgedSoon({ phase, deadline }: Pick<SandboxView, "phase" | "deadline">): boolean {
  if (phase === "Ready") return true;
  return isComingUp(phase) && deadline?.status === "active" && deadline.phase !== PREPARATION;
}

/**
 * Says what becomes of a configuration that was committed, which its supervisor judges and not the gateway. The exit code
 * that tells it: what nobody has judged yet is no failure.
 */
export async function tellVerdict(
  { client, json }: CommandContext,
  updated: SandboxView,
  limitMs = VERDICT_LIMIT_MS,
): Promise<number> {
  const { generation } = updated.configuration;
  const isAwaited = limitMs > 0 && isJudgedSoon(updated);
  const seen = isAwaited ? await lastView(client, updated, limitMs) : updated;
  const verdict = seen && verdictOf(seen, generation);
  if (json && seen !== null && verdict !== null) printJson(seen);
  if (!json) console.error(safeText(`${updated.name}: ${sentence(seen, updated, verdict)}`));
  return verdict?.accepted === false ? EXIT_FAILED : 0;
}

function sentence(
  seen: SandboxView | null,
  { name, configuration: { generation } }: SandboxView,
  verdict: Verdict | null,
): string {
  if (seen === null) return `generation ${generation} was not judged: the sandbox is gone`;
  if (verdict?.accepted === true) return `generation ${generation} was accepted`;
  const { appliedGeneration, phase, configuration: current } = seen;
  if (verdict !== null) {
    const kept = phase === "Ready" ? `; generation ${appliedGeneration} stays in force` : "";
    return `generation ${generation} was rejected: ${verdict.message}${kept}`;
  }
  if (current.generation !== generation)
    return `generation ${generation} was replaced by generation ${current.generation} before it was judged`;
  if (isAtRest(phase) || phase === "Stopping" || phase === "Deleting")
    return `generation ${generation} is not judged: no supervisor is left that could do that; ${nextJudge(seen)}`;
  const look = `see the condition ConfigurationReady of "get ${name}"`;
  return `generation ${generation} is not judged yet: its supervisor does that, ${look}`;
}

/** Where the next supervisor comes from: a start that waits already, a command, or why from none. */
function nextJudge({ name, phase, startPending, operations: { start } }: SandboxView): string {
  if (startPending) return "the start that waits brings the next one";
  // A start over a pending cleanup is taken down, and begins once that is done.
  if (!start.allowed && start.reason !== "CleanupPending") return start.message;
  return `"${phase === "Error" ? "recover" : "start"} ${name}" brings the next one`;
}

/**
 * The first view in which it is judged, or will not be soon; the last one where nothing was heard in time. `null` once
 * the sandbox is gone.
 */
async function lastView(
  client: CommandContext["client"],
  updated: SandboxView,
  limitMs: number,
): Promise<SandboxView | null> {
  const { id, configuration } = updated;
  const { generation } = configuration;
  const limit = AbortSignal.timeout(limitMs);
  const end = new AbortController();
  let last = updated;
  try {
    for await (const view of client.watch(id, AbortSignal.any([end.signal, limit]))) {
      last = view;
      const isReplaced = view.configuration.generation !== generation;
      if (isReplaced || !isJudgedSoon(view) || verdictOf(view, generation) !== null) return view;
    }
  } catch (error) {
    // The configuration is committed all the same.
    return error instanceof ApiError && error.status === 404 ? null : last;
  } finally {
    end.abort();
  }
  return limit.aborted ? last : null;
}
