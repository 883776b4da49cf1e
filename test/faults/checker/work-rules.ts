import {
  CLOCK_MARGIN_MS,
  pairsOf,
  type Delivery,
  type Pair,
  type SandboxHistory,
  type Version,
  type Violation,
} from "./history.js";

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
