import {
  readDeadline,
  type DeadlineReading,
  type DeadlineState,
  type LimitedBy,
} from "../../deadline/index.js";

/**
 * A stretch of an attempt: one phase, or what came before the first version that is known.
 *
 * @internal
 */
export interface Stretch {
  readonly label: string;
  readonly from: number;
  /** When the attempt left it, or ended in it; `null` while it is in it. */
  readonly until: number | null;
  /** The end of its budget's window, where it has one and the version that tells is known. */
  readonly windowEndsAt: number | null;
}

/** What happened at an instant. */
type MarkKind = "progress" | "change" | "rejection" | "renewal" | "expired" | "completed" | "cancelled";

/** @internal */
export interface Mark {
  readonly kind: MarkKind;
  readonly at: number;
  readonly label: string;
}

/** @internal */
export interface Limit {
  readonly bound: LimitedBy;
  readonly at: number;
  /** Whether this is the one in force, or the one that expired it. */
  readonly inForce: boolean;
}

/**
 * An attempt on one line of time.
 *
 * @internal
 */
export interface Timeline {
  readonly attempt: string;
  readonly now: number;
  readonly from: number;
  readonly until: number;
  readonly stretches: readonly Stretch[];
  readonly marks: readonly Mark[];
  readonly limits: readonly Limit[];
  readonly reading: DeadlineReading;
  readonly state: DeadlineState;
}

/**
 * Lays the versions of one attempt's deadline, oldest first, out on a line of time. One version is enough; the more
 * there are, the more of the renewals and of the progress between them shows.
 *
 * @internal
 */
export function timelineOf(versions: readonly [DeadlineState, ...DeadlineState[]], now: number): Timeline {
  const state = versions.at(-1) ?? versions[0];
  const reading = readDeadline(state, now);
  const limits = limitsOf(state, reading);
  const stretches = stretchesOf(versions, endOf(state, reading));
  const marks = [...historyMarks(versions), ...ownMarks(state, reading)].sort(
    (one, other) => one.at - other.at,
  );
  const instants = [
    Math.max(now, state.observedAt),
    ...limits.map(({ at }) => at),
    ...marks.map(({ at }) => at),
    ...stretches.flatMap(({ from, until, windowEndsAt }) => [from, until ?? from, windowEndsAt ?? from]),
  ];
  const until = Math.max(...instants, state.startedAt + 1);
  return {
    attempt: state.attempt,
    now,
    from: state.startedAt,
    until,
    stretches,
    marks,
    limits,
    reading,
    state,
  };
}

function endOf(
  { expiry, completedAt, cancellation }: DeadlineState,
  reading: DeadlineReading,
): number | null {
  const settled = expiry?.at ?? completedAt ?? cancellation?.at ?? null;
  return settled ?? (reading.status === "expired" ? dueAt(reading) : null);
}

/** When an expiry that nobody has written yet was due. */
function dueAt({ bounds, limitedBy }: DeadlineReading): number | null {
  return limitedBy === null ? null : bounds[limitedBy];
}

function limitsOf(state: DeadlineState, { bounds, limitedBy, status }: DeadlineReading): readonly Limit[] {
  if (status === "completed" || status === "cancelled") return [];
  const names = ["stall", "budget", "phase-ceiling", "attempt-ceiling", "parent"] as const;
  return names.flatMap((bound) => {
    const inForce = bound === limitedBy;
    const at = inForce ? (state.expiry?.at ?? bounds[bound]) : bounds[bound];
    return at === null ? [] : [{ bound, at, inForce }];
  });
}

function stretchesOf(versions: readonly DeadlineState[], end: number | null): readonly Stretch[] {
  const entries: DeadlineState[] = [];
  for (const version of versions) {
    if (entries.at(-1)?.phase === version.phase) entries[entries.length - 1] = version;
    else entries.push(version);
  }
  const [first] = entries;
  if (first === undefined) return [];
  const stretches = entries.map((version, index) => ({
    label: version.phase,
    from: version.phaseEnteredAt,
    until: entries[index + 1]?.phaseEnteredAt ?? end,
    windowEndsAt: version.windowEndsAt,
  }));
  if (first.phaseEnteredAt === first.startedAt) return stretches;
  const earlier = first.plan.phases.slice(
    0,
    first.plan.phases.findIndex(({ name }) => name === first.phase),
  );
  const label = earlier.length === 1 ? (earlier[0]?.name ?? "") : "earlier phases";
  return [{ label, from: first.startedAt, until: first.phaseEnteredAt, windowEndsAt: null }, ...stretches];
}

/** What two versions in a row tell apart: time that was granted, and a step that went on. */
function historyMarks(versions: readonly DeadlineState[]): readonly Mark[] {
  return versions.flatMap((version, index) => {
    const before = versions[index - 1];
    if (before === undefined || before.phase !== version.phase) return [];
    const marks: Mark[] = [];
    const at = version.observedAt;
    if (
      before.windowEndsAt !== null &&
      version.windowEndsAt !== null &&
      version.windowEndsAt > before.windowEndsAt
    ) {
      const resumed = before.pausedAt !== null && version.pausedAt === null;
      marks.push({ kind: "renewal", at, label: resumed ? "resumed" : "window renewed" });
    }
    if (version.marks !== before.marks && JSON.stringify(version.marks) !== JSON.stringify(before.marks)) {
      marks.push({ kind: "progress", at, label: latestMark(version) });
    }
    return marks;
  });
}

function latestMark({ marks }: DeadlineState): string {
  const { step, part, position } = marks.at(-1) ?? { step: null, part: null, position: null };
  const name = [step, part].filter((word) => word !== null).join("/") || "progress";
  return position === null ? name : `${name} ${position}`;
}

function ownMarks(state: DeadlineState, reading: DeadlineReading): readonly Mark[] {
  const { configuration, rejection, expiry, completedAt, cancellation } = state;
  const marks: Mark[] = [];
  if (configuration?.committedAt !== null && configuration !== null)
    marks.push({
      kind: "change",
      at: configuration.committedAt,
      label: `configuration ${configuration.generation}`,
    });
  if (rejection !== null)
    marks.push({ kind: "rejection", at: rejection.at, label: rejection.reason ?? "rejected" });
  const expiredAt = expiry?.at ?? (reading.status === "expired" ? dueAt(reading) : null);
  if (expiredAt !== null)
    marks.push({ kind: "expired", at: expiredAt, label: `expired (${reading.limitedBy ?? "limit"})` });
  if (completedAt !== null) marks.push({ kind: "completed", at: completedAt, label: "completed" });
  if (cancellation !== null)
    marks.push({ kind: "cancelled", at: cancellation.at, label: `cancelled: ${cancellation.reason}` });
  return marks.filter(({ at }) => at >= state.startedAt);
}
