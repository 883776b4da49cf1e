import { getCondition } from "slipway";
import { PREPARATION } from "../gateway/budgets.js";
import type { SandboxView } from "../http/view.js";
import { isComingUp } from "../record/phase.js";
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
  const judged = limitMs > 0 && isJudgedSoon(updated) ? await judgedView(client, updated, limitMs) : null;
  const verdict = judged && verdictOf(judged, generation);
  if (json && judged !== null) printJson(judged);
  if (!json) console.error(safeText(`${updated.name}: ${sentence(judged ?? updated, generation, verdict)}`));
  return verdict?.accepted === false ? EXIT_FAILED : 0;
}

function sentence(
  { name, appliedGeneration, phase }: SandboxView,
  generation: number,
  verdict: Verdict | null,
): string {
  if (verdict?.accepted === true) return `generation ${generation} was accepted`;
  if (verdict !== null) {
    const kept = phase === "Ready" ? `; generation ${appliedGeneration} stays in force` : "";
    return `generation ${generation} was rejected: ${verdict.message}${kept}`;
  }
  const look = `see the condition ConfigurationReady of "get ${name}"`;
  return `generation ${generation} is not judged yet: its supervisor does that, ${look}`;
}

/** The first view in which it is judged; `null` when it was replaced, deleted, or nothing was heard in time. */
async function judgedView(
  client: CommandContext["client"],
  { id, configuration: { generation } }: SandboxView,
  limitMs: number,
): Promise<SandboxView | null> {
  const end = new AbortController();
  try {
    for await (const view of client.watch(id, AbortSignal.any([end.signal, AbortSignal.timeout(limitMs)]))) {
      if (verdictOf(view, generation) !== null) return view;
      if (view.configuration.generation !== generation) return null;
    }
  } catch {
    // The configuration is committed all the same.
  } finally {
    end.abort();
  }
  return null;
}
