import type { DeadlineEvent } from "./event.js";
import type { DeadlineEvents } from "./live-events.js";
import type { Notifier } from "../events/index.js";
import type { DeadlineState, ProgressMark } from "./state.js";

/**
 * Announces the facts by which two states of one attempt differ, so that a state adopted from elsewhere is announced
 * as an own decision is, and no fact twice.
 *
 * @internal
 */
export function announce(
  notifier: Notifier<DeadlineEvents>,
  before: DeadlineState,
  next: DeadlineState,
  event: DeadlineEvent | undefined,
): void {
  const { attempt, phase, status } = next;
  if (next.marks !== before.marks && phase === before.phase && status === "active") {
    for (const mark of raised(before, next, event)) notifier.notify("progress", { attempt, phase, ...mark });
  }
  if (phase !== before.phase) notifier.notify("phase", { attempt, from: before.phase, to: phase });
  else announceRenewal(notifier, before, next);
  if (before.status !== "active" || status === "active") return;
  if (next.expiry !== null) notifier.notify("expired", next.expiry);
  notifier.notify("settled", { attempt, status });
}

/** A window that moved because time was paused was not renewed. */
function announceRenewal(
  notifier: Notifier<DeadlineEvents>,
  before: DeadlineState,
  next: DeadlineState,
): void {
  const { attempt, phase, windowEndsAt } = next;
  if (windowEndsAt === null || before.windowEndsAt === null || next.pauseSeq !== before.pauseSeq) return;
  if (windowEndsAt > before.windowEndsAt) notifier.notify("renewed", { attempt, phase, windowEndsAt });
}

function raised(
  before: DeadlineState,
  next: DeadlineState,
  event: DeadlineEvent | undefined,
): readonly ProgressMark[] {
  if (event?.type === "progress") {
    return [{ step: event.step ?? null, part: event.part ?? null, position: event.position ?? null }];
  }
  if (next.run !== before.run) return next.marks;
  const known = new Map(before.marks.map((mark) => [keyOf(mark), mark.position]));
  return next.marks.filter((mark) => {
    const position = known.get(keyOf(mark));
    return position === undefined || (mark.position ?? -1) > (position ?? -1);
  });
}

function keyOf(mark: ProgressMark): string {
  return JSON.stringify([mark.step, mark.part]);
}
