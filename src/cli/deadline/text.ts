import type { DeadlinePhase, DeadlineState } from "../../deadline/index.js";
import { showDuration } from "./duration.js";
import type { Mark, Timeline } from "./timeline.js";

/**
 * A deadline for a person to read, line by line.
 *
 * @internal
 */
export function timelineText(timeline: Timeline): readonly string[] {
  const { reading, state, limits, stretches, marks, from } = timeline;
  const now = Math.max(timeline.now, state.observedAt);
  const since = (at: number): string => `+${showDuration(at - from)}`;
  return [
    `attempt ${state.attempt} (version ${state.version})`,
    row("status", statusOf(timeline)),
    row("phase", `${reading.phase}${reading.paused ? " (paused)" : ""}`),
    row("started", new Date(from).toISOString()),
    row("read at", readAt(timeline)),
    row("elapsed", showDuration(reading.elapsedMs)),
    ...(reading.status === "active" ? [row("remaining", remainingOf(timeline))] : []),
    ...limits.map(({ bound, at, inForce }) =>
      row(
        inForce ? "limit *" : "limit",
        `${bound} at ${since(at)} (${new Date(at).toISOString()}), ${distance(at - now)}`,
      ),
    ),
    ...stretches.map(({ label, from: entered, until }) =>
      row(
        "was in",
        `${label} from ${since(entered)} to ${until === null ? "now" : since(until)}${budgetOf(state, label)}`,
      ),
    ),
    ...notEntered(state).map((phase) => row("to come", `${phase.name}${budgetText(phase)}`)),
    ...state.marks.map(({ step, part, position }) =>
      row(
        "progress",
        `${[step ?? "(no step)", part].filter((word) => word !== null).join("/")}${position === null ? "" : ` at ${position}`}`,
      ),
    ),
    ...eventRows(marks, since),
    ...(state.expiry === null
      ? []
      : [row("reason", state.expiry.reason), row("message", state.expiry.message)]),
    ...(state.cleanup.status === "none" ? [] : [row("cleanup", cleanupOf(state))]),
  ];
}

/** One row an event, and one for any number of progress reports in a row: a thousand of them would hide the rest. */
function eventRows(marks: readonly Mark[], since: (at: number) => string): readonly string[] {
  const rows: string[] = [];
  for (let index = 0; index < marks.length; index += 1) {
    const mark = marks[index];
    if (mark === undefined) break;
    let last = index;
    while (mark.kind === "progress" && marks[last + 1]?.kind === "progress") last += 1;
    const latest = marks[last] ?? mark;
    const text =
      last === index
        ? `${since(mark.at)} ${mark.label}`
        : `${since(mark.at)} to ${since(latest.at)}: ${last - index + 1} reports of progress, up to ${latest.label}`;
    rows.push(row("event", text));
    index = last;
  }
  return rows;
}

function statusOf({ reading, state }: Timeline): string {
  if (reading.status === "expired" && state.status === "active")
    return "expired (not written yet: no event has been applied since)";
  return reading.status;
}

/** An instant before the last event counts as that event's. */
function readAt({ now, state: { observedAt } }: Timeline): string {
  const [given, observed] = [now, observedAt].map((at) => new Date(at).toISOString());
  return now < observedAt ? `${observed} (the last event, which is after ${given})` : `${given}`;
}

function remainingOf({ reading }: Timeline): string {
  if (reading.remainingMs === Number.POSITIVE_INFINITY) return "unlimited";
  return `${showDuration(reading.remainingMs)}, limited by ${reading.limitedBy ?? "nothing"}`;
}

function distance(ms: number): string {
  return ms >= 0 ? `in ${showDuration(ms)}` : `${showDuration(-ms)} ago`;
}

function budgetOf({ plan }: DeadlineState, name: string): string {
  const phase = plan.phases.find((candidate) => candidate.name === name);
  return phase === undefined ? "" : budgetText(phase);
}

function budgetText({ budgetMs, renewOn, ceilingMs }: DeadlinePhase): string {
  const budget = budgetMs === undefined ? "no budget" : `budget ${showDuration(budgetMs)}`;
  const renewal = renewOn === undefined ? "" : ", renewable by a change";
  const ceiling = ceilingMs === undefined ? "" : `, ceiling ${showDuration(ceilingMs)}`;
  return ` (${budget}${renewal}${ceiling})`;
}

function notEntered({ plan, phase, status }: DeadlineState): readonly DeadlinePhase[] {
  if (status !== "active") return [];
  return plan.phases.slice(plan.phases.findIndex(({ name }) => name === phase) + 1);
}

function cleanupOf({ cleanup }: DeadlineState): string {
  const { status, claim, error, waiver } = cleanup;
  const parts: string[] = [status];
  if (claim !== null) parts.push(`claimed by ${claim.owner} until ${new Date(claim.until).toISOString()}`);
  if (error !== null) parts.push(`last failure: ${error}`);
  if (waiver !== null) parts.push(`waived by ${waiver.by}: ${waiver.reason}`);
  return parts.join(", ");
}

function row(label: string, text: string): string {
  return `  ${label.padEnd(10)}${text}`;
}
