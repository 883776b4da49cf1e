import {
  CLOCK_MARGIN_MS,
  pairsOf,
  type Delivery,
  type Pair,
  type SandboxHistory,
  type Version,
  type Violation,
  type WorkloadStart,
} from "./history.js";

/** How long a main process that was granted may take to write that it began, on a machine with more to do. */
const BEGIN_MS = 1500;

/** Nobody takes work, or a cleanup, that somebody else still has a lease for. */
export function noLeaseBroken(history: SandboxHistory): Violation[] {
  return pairsOf(history).flatMap((pair) =>
    [brokenLease(pair), brokenClaim(pair)].flatMap((detail): Violation[] =>
      detail === null
        ? []
        : [{ rule: "lease-broken", sandbox: history.id, version: pair.after.version, detail }],
    ),
  );
}

function brokenLease({ before, after }: Pair): string | null {
  const held = before.record.lease;
  const { lease, run, instance } = after.record;
  if (held === null || lease === null || instance === null || run === before.record.run) return null;
  if (lease.owner === held.owner || instance.startedAt >= held.until) return null;
  return `run ${run} was taken ${held.until - instance.startedAt} ms before the lease of another owner ended`;
}

function brokenClaim({ before, after }: Pair): string | null {
  const held = before.record.deadline?.cleanup.claim ?? null;
  const claim = after.record.deadline?.cleanup.claim ?? null;
  if (held === null || claim === null || claim.owner === held.owner || claim.at >= held.until) return null;
  return `the cleanup was claimed ${held.until - claim.at} ms before another owner's claim ended`;
}

/** Each start of a main process is of a run that was admitted, and each run and each attempt has one at most. */
export function noneStartedTwice({ id, versions, starts }: SandboxHistory): Violation[] {
  const found: Violation[] = [];
  const runs = new Set<number>();
  const attempts = new Set<number>();
  const admitted = new Set(
    versions.flatMap(({ record }) =>
      record === null || record.activatedRun === null
        ? []
        : [`${record.attemptNumber}.${record.activatedRun}`],
    ),
  );
  const wrong = (detail: string): void => {
    found.push({ rule: "started-twice", sandbox: id, version: null, detail });
  };
  for (const { attempt, run } of starts) {
    if (runs.has(run)) wrong(`run ${run} started its main process again`);
    else if (attempts.has(attempt)) wrong(`attempt ${attempt} started a second main process, in run ${run}`);
    if (!admitted.has(`${attempt}.${run}`)) wrong(`run ${run} of attempt ${attempt} was never admitted`);
    runs.add(run);
    attempts.add(attempt);
  }
  return found;
}

/** No main process begins for a run that was over: expired, followed by another one, or removed. */
export function noneStartedLate({ id, versions, starts }: SandboxHistory): Violation[] {
  return starts.flatMap((start): Violation[] => {
    const end = versions.find((version) => isOver(version, start));
    if (end === undefined || start.at <= end.at + CLOCK_MARGIN_MS + BEGIN_MS) return [];
    const late = Math.round(start.at - end.at);
    const detail = `run ${start.run} started its main process ${late} ms after it was over`;
    return [{ rule: "started-late", sandbox: id, version: end.version, detail }];
  });
}

function isOver({ op, record }: Version, start: WorkloadStart): boolean {
  if (record === null) return op === "delete";
  if (record.attemptNumber > start.attempt || record.run > start.run) return true;
  return record.attemptNumber === start.attempt && record.deadline?.status === "expired";
}

/** What a supervisor was granted, it was granted while its attempt and run were the current ones. */
export function noStaleCredentialsTaken({ id, versions, deliveries }: SandboxHistory): Violation[] {
  return deliveries.flatMap((delivery): Violation[] => {
    if (delivery.status >= 300 || wasCurrent(delivery, versions)) return [];
    const detail = `${delivery.what} of run ${delivery.run} was taken though that run was over`;
    return [{ rule: "stale-credentials-taken", sandbox: id, version: null, detail }];
  });
}

function wasCurrent({ attempt, run, sentAt, answeredAt }: Delivery, versions: readonly Version[]): boolean {
  return versions.some(({ at, record }, index) => {
    const until = versions[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    const overlaps = at <= answeredAt + CLOCK_MARGIN_MS && until >= sentAt - CLOCK_MARGIN_MS;
    return overlaps && record?.deadline?.attempt === attempt && record.run === run;
  });
}
