import { applyDeadlineEvent, type DeadlineEvent } from "slipway";
import { newRecord } from "../../examples/gateway-core/src/decide/attempt.js";
import { observeTime, withPhase } from "../../examples/gateway-core/src/decide/decision.js";
import { planFor, type Budgets } from "../../examples/gateway-core/src/gateway/budgets.js";
import { instanceIdOf, type SandboxRecord } from "../../examples/gateway-core/src/record/record.js";

export const BUDGETS: Budgets = {
  preparationMs: 600_000,
  admissionMs: 300_000,
  admissionCeilingMs: 600_000,
  cleanupMs: 30_000,
};

const SPEC = {
  driver: "memory",
  image: { name: "registry.example/team/image:1.2.3", path: "/images/team" },
  command: ["sh", "-c", "exec work --forever"],
  driverOptions: {},
  budgets: {},
};
const POLICY = { version: 1, env: { MODE: "work" }, network: { allow: ["example.com:443"] } };

/** Below the silence that a gateway would write down. */
const STARTED_BEFORE_MS = 5000;

function fresh(index: number, preparationMs: number, now: number): SandboxRecord {
  const id = idOf(index);
  const sandbox = { id, name: `box-${index}`, spec: SPEC, policy: POLICY, isolationBackend: null };
  const plan = planFor(BUDGETS, { preparationMs });
  const record = newRecord(sandbox, { plan, token: tokenOf(id) }, now);
  const instance = { id: instanceIdOf(id, 1), run: 1, handle: { pid: 1 }, startedAt: now, launchedAt: now };
  return { ...record, run: 1, instance };
}

/** Sandboxes that run, and of which nothing is due, from the given number on. */
export function readyRecords(from: number, count: number, now: number): readonly SandboxRecord[] {
  const like = readyRecord(now);
  return Array.from({ length: count }, (_, offset) => {
    const id = idOf(from + offset);
    const instance = like.instance && { ...like.instance, id: instanceIdOf(id, 1) };
    const deadline = like.deadline && { ...like.deadline, attempt: tokenOf(id) };
    return { ...like, id, name: `box-${from + offset}`, instance, deadline };
  });
}

export function idOf(index: number): string {
  return `sb-${String(index).padStart(8, "0")}`;
}

/** What the supervisor of a sandbox shows. */
export function tokenOf(id: string): string {
  return `token-of-${id}`;
}

function readyRecord(now: number): SandboxRecord {
  const record = fresh(0, BUDGETS.preparationMs, now);
  let deadline = record.deadline;
  const attempt = deadline?.attempt ?? "";
  const events: DeadlineEvent[] = [
    { type: "enter", attempt, phase: "admission" },
    { type: "complete", attempt },
  ];
  for (const event of events)
    if (deadline !== null) deadline = applyDeadlineEvent(deadline, event, now).state;
  const reason = { reason: "DependenciesReady", message: "The sandbox is usable." };
  const admitted = { admission: "accepted", activatedRun: 1, appliedGeneration: 1 } as const;
  return withPhase({ ...record, ...admitted, deadline }, "Ready", reason, now);
}

/**
 * A sandbox whose preparation is under way and will not come to an end in time, as its gateway last wrote it down at
 * the given instant: the passing of time is written every few seconds, and nothing else happens.
 */
export function preparingRecord(index: number, expiresAt: number, writtenAt: number): SandboxRecord {
  const record = fresh(index, BUDGETS.preparationMs, expiresAt - BUDGETS.preparationMs);
  // Its supervisor is started so late that its silence is never worth a write: what is measured is the deadline.
  const launchedAt = expiresAt - STARTED_BEFORE_MS;
  const instance = record.instance && { ...record.instance, launchedAt };
  return observeTime({ ...record, instance }, writtenAt);
}
