import { canonicalJson, type JsonObject } from "../../../examples/gateway-core/src/record/json.js";
import type { SandboxRecord } from "../../../examples/gateway-core/src/record/record.js";
import { pairsOf, type SandboxHistory, type Violation } from "./history.js";

/** Versions follow each other without a gap, only a user's delete removes a record, and the store has the last one. */
export function noRecordLost({ id, versions, answers, end }: SandboxHistory): Violation[] {
  const lost = (version: number | null, detail: string): Violation => ({
    rule: "record-lost",
    sandbox: id,
    version,
    detail,
  });
  const found: Violation[] = [];
  const created = answers.some(({ view }) => view !== null);
  if (versions.length === 0)
    return created ? [lost(null, "an answer told of a record that was never written")] : [];
  for (const [index, { op, version }] of versions.entries()) {
    const before = versions[index - 1];
    if (before === undefined) {
      if (op !== "insert" || version !== 1)
        found.push(lost(version, `begins with ${op} of version ${version}`));
      continue;
    }
    const follows = op === "delete" ? before.version : before.version + 1;
    if (op === "insert" || before.op === "delete") found.push(lost(version, `${op} after ${before.op}`));
    if (version !== follows) found.push(lost(version, `follows version ${before.version}`));
    if (op === "delete" && before.record?.desired !== "deleted")
      found.push(lost(version, "removed though nobody asked for it"));
  }
  const last = versions.at(-1);
  const expected = last === undefined || last.op === "delete" ? null : last.version;
  if (end.version !== expected)
    found.push(lost(end.version, `the store ends with ${end.version}, the history with ${expected}`));
  return found;
}

/** What only grows never falls, and what is fixed stays: otherwise a write replaced one that it had not seen. */
export function noWriteLost(history: SandboxHistory): Violation[] {
  return pairsOf(history).flatMap(({ before, after }) =>
    backwards(before.record, after.record).map((detail) => ({
      rule: "write-lost" as const,
      sandbox: history.id,
      version: after.version,
      detail,
    })),
  );
}

function backwards(old: SandboxRecord, now: SandboxRecord): string[] {
  const faults: string[] = [];
  const fixed = (record: SandboxRecord): string =>
    canonicalJson([record.name, record.createdAt, record.spec] as unknown as JsonObject);
  if (fixed(old) !== fixed(now)) faults.push("name, creation or specification changed");
  const fell = (what: string, from: number, to: number): void => {
    if (to < from) faults.push(`${what} fell from ${from} to ${to}`);
  };
  fell("the attempt", old.attemptNumber, now.attemptNumber);
  fell("the run", old.run, now.run);
  fell("the generation", old.configuration.generation, now.configuration.generation);
  if (now.configuration.generation > old.configuration.generation + 1)
    faults.push("the generation grew by more than one");
  const sameGeneration = now.configuration.generation === old.configuration.generation;
  if (sameGeneration && now.configuration.digest !== old.configuration.digest)
    faults.push("a generation has two contents");
  if (old.desired === "deleted" && now.desired !== "deleted") faults.push("a delete was taken back");
  if (old.attemptNumber === now.attemptNumber) {
    if (old.activatedRun !== null && now.activatedRun !== old.activatedRun)
      faults.push(`the activated run ${old.activatedRun} became ${now.activatedRun}`);
    if (old.exitCode !== null && now.exitCode !== old.exitCode) faults.push("an exit code changed");
  }
  const sameRun = old.instance !== null && now.instance?.run === old.instance.run;
  if (sameRun && old.instance.launchedAt !== null && now.instance.launchedAt !== old.instance.launchedAt)
    faults.push("a launch was forgotten");
  if (old.deadline !== null && now.deadline?.attempt === old.deadline.attempt) {
    fell("the deadline's version", old.deadline.version, now.deadline.version);
    fell("the cleanup's claims", old.deadline.cleanup.claims, now.deadline.cleanup.claims);
    const same = now.deadline.version === old.deadline.version;
    if (same && JSON.stringify(now.deadline) !== JSON.stringify(old.deadline))
      faults.push("a version of the deadline has two states");
    if (now.deadline.spentRejections.length < old.deadline.spentRejections.length)
      faults.push("a spent rejection was forgotten");
  }
  return faults;
}
