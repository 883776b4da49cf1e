import {
  CLOCK_MARGIN_MS,
  type Answer,
  type SandboxHistory,
  type Version,
  type Violation,
} from "./history.js";

/**
 * Every answer shows a version that was committed, just as it was committed, and none that came before another one was
 * asked for is newer than that other's. What was created is found until it is removed.
 */
export function everyAnswerVisible({ id, versions, answers }: SandboxHistory): Violation[] {
  const found: Violation[] = [];
  const wrong = (version: number | null, detail: string): void => {
    found.push({ rule: "answer-not-visible", sandbox: id, version, detail });
  };
  const byVersion = new Map(versions.flatMap((each) => (each.record === null ? [] : [[each.version, each]])));
  for (const answer of answers) {
    const { operation, view } = answer;
    if (view === null) {
      if (isThere(answer, versions)) wrong(null, `${operation} found nothing though the record was there`);
      continue;
    }
    const committed = byVersion.get(view.version);
    if (committed === undefined) wrong(view.version, `${operation} answered a version that nobody committed`);
    else for (const detail of differences(view, committed)) wrong(view.version, `${operation}: ${detail}`);
    if (operation === "delete" && view.desired !== "deleted")
      wrong(view.version, "a delete was acknowledged and not written");
  }
  return [...found, ...wentBack(id, answers)];
}

function differences(view: NonNullable<Answer["view"]>, { record }: Version): string[] {
  if (record === null) return [];
  const committed = {
    phase: record.phase,
    desired: record.desired,
    attempt: record.attemptNumber,
    run: record.run,
    generation: record.configuration.generation,
    startPending: record.startPending,
  };
  return (Object.keys(committed) as (keyof typeof committed)[])
    .filter((field) => view[field] !== committed[field])
    .map(
      (field) => `${field} was answered as ${String(view[field])}, committed as ${String(committed[field])}`,
    );
}

/** Whether there was a record through the whole of a request that found none. */
function isThere({ sentAt, answeredAt }: Answer, versions: readonly Version[]): boolean {
  const first = versions[0];
  const last = versions.at(-1);
  if (first === undefined || first.at + CLOCK_MARGIN_MS > sentAt) return false;
  return last?.op !== "delete" || last.at > answeredAt + CLOCK_MARGIN_MS;
}

function wentBack(id: string, answers: readonly Answer[]): Violation[] {
  const found: Violation[] = [];
  const sent = [...answers].sort((one, other) => one.sentAt - other.sentAt);
  const answered = [...answers].sort((one, other) => one.answeredAt - other.answeredAt);
  let newest = 0;
  let next = 0;
  for (const { operation, sentAt, view } of sent) {
    for (let done = answered[next]; done !== undefined && done.answeredAt < sentAt; done = answered[next]) {
      newest = Math.max(newest, done.view?.version ?? 0);
      next += 1;
    }
    if (view === null || view.version >= newest) continue;
    const detail = `${operation} answered version ${view.version} after ${newest} had been answered`;
    found.push({ rule: "answer-not-visible", sandbox: id, version: view.version, detail });
  }
  return found;
}
