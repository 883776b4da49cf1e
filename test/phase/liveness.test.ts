import { describe, expect, it } from "vitest";
import {
  acceptOperation,
  allowedOperations,
  expectedRun,
  reconcileRecord,
  resolveFailedOperation,
  type Observation,
  type SandboxRecord,
} from "../../src/phase/index.js";
import { agentSandbox, docker, pods, type BackendModel, type Shown } from "./backend-models.js";

/** A driver whose stop leaves nothing says so; the others do no worse by it. */
const policy = { removesComputeOnStop: true } as const;
const STEP = 60_000;

interface Moment {
  readonly record: SandboxRecord;
  readonly shown: Shown;
  readonly now: number;
  /** How it came about, for the message of a failure. */
  readonly path: readonly string[];
}

const isAbsent = (value: unknown): boolean => (value ?? null) === null;

function order(a: number | null | undefined, b: number | null | undefined): string {
  if (typeof a !== "number" || typeof b !== "number") return "-";
  return a < b ? "<" : a > b ? ">" : "=";
}

/** Moments that differ in nothing that a rule could read are one. */
function keyOf({ record, shown }: Moment): string {
  const { phase, desired, startRequestedAt, previousFinishedAt, expectedInstanceId, instanceId } = record;
  const named =
    shown.label === undefined ? "" : shown.label === expectedInstanceId ? "next" : shown.label === instanceId;
  return JSON.stringify([
    [
      phase,
      desired,
      record.reason,
      record.exitCode,
      isAbsent(record.finishedAt),
      isAbsent(expectedInstanceId),
    ],
    [shown.state, shown.exitCode, shown.going, named],
    [order(shown.endedAt, startRequestedAt), order(shown.endedAt, previousFinishedAt)],
    order(shown.madeAt, startRequestedAt),
  ]);
}

/** What may come next. What a person or the backend brings about is a way; accidents are not relied on. */
function next(model: BackendModel, moment: Moment): (readonly [Moment, boolean])[] {
  const { record, shown } = moment;
  const now = moment.now + STEP;
  const found: (readonly [Moment, boolean])[] = [];
  const add = (how: string, of: SandboxRecord, over: Shown, isWay: boolean): void => {
    found.push([{ record: of, shown: over, now, path: [...moment.path, how] }, isWay]);
  };
  const look = (of: SandboxRecord, over: Shown): Observation =>
    model.look(over, { run: expectedRun(of), observedAt: now });

  add("look", reconcileRecord(record, look(record, shown), null, now, policy).record, shown, true);
  const soon = model.soon(shown, now);
  if (soon !== null) add("by itself", record, soon, true);
  for (const over of model.accidents(shown, now)) add(`accident: ${over.state}`, record, over, false);
  if (
    record.phase === "Provisioning" &&
    record.desired === "running" &&
    model.look(shown, {}).exists === false
  )
    add("create", record, model.start(shown, now, record.instanceId ?? ""), true);

  const gates = allowedOperations({ record, observation: look(record, shown), by: "user", now, policy });
  for (const operation of ["start", "stop", "delete"] as const) {
    const gate = gates[operation];
    if (!gate.allowed) continue;
    const opens = operation === "start" && gate.route !== "retry" && gate.route !== "noop";
    const instanceId = opens ? `run-${now.toString()}` : null;
    const accepted = acceptOperation(record, operation, gate, { now, instanceId }).record;
    const of = operation === "delete" ? record : accepted;
    const fail = (over: Shown): SandboxRecord =>
      resolveFailedOperation(accepted, record, operation, look(of, over), now, policy).record;
    if (operation !== "delete" && gate.route !== "noop") {
      const run = accepted.expectedInstanceId ?? accepted.instanceId ?? "";
      const done = operation === "start" ? model.start(shown, now, run) : model.stop(shown, now);
      add(operation, accepted, done, true);
      add(`${operation}, the answer was lost`, fail(done), done, false);
    } else if (operation !== "delete") add(operation, accepted, shown, true);
    if (operation !== "delete") add(`${operation}, then a crash`, accepted, shown, false);
    const restored = fail(shown);
    if (restored.phase !== "Deleted") add(`${operation} failed`, restored, shown, false);
  }
  return found;
}

/** Walks all that can become of a sandbox, and gives what leads to `Ready` by no way. */
function walk(model: BackendModel): { readonly moments: number; readonly stuck: readonly string[] } {
  const record: SandboxRecord = { phase: "Provisioning", desired: "running", since: 0, instanceId: "run-0" };
  const start: Moment = { record, shown: model.first, now: 1_000_000_000_000, path: [] };
  const moments = new Map<string, Moment>([[keyOf(start), start]]);
  const waysTo = new Map<string, string[]>();
  const open: string[] = [];
  // A map is walked in the order of insertion, what is added on the way included.
  for (const [key, moment] of moments) {
    for (const [after, isWay] of next(model, moment)) {
      const to = keyOf(after);
      if (!moments.has(to)) moments.set(to, after);
      if (isWay) waysTo.set(to, [...(waysTo.get(to) ?? []), key]);
    }
    if (moment.record.phase === "Ready" && moment.shown.state === "up") open.push(key);
  }
  const live = new Set(open);
  for (let key = open.pop(); key !== undefined; key = open.pop())
    for (const from of waysTo.get(key) ?? [])
      if (!live.has(from)) {
        live.add(from);
        open.push(from);
      }
  const stuck = [...moments].filter(([key]) => !live.has(key));
  return {
    moments: moments.size,
    stuck: stuck.map(([key, { path }]) => `${path.join(", ")}: ${key}`),
  };
}

describe("whatever a sandbox has been through, start and stop lead to Ready", () => {
  it.each(
    [docker(false), docker(true), pods(false), pods(true), agentSandbox].map(
      (one) => [one.name, one] as const,
    ),
  )("%s", (_name, model) => {
    const { moments, stuck } = walk(model);
    expect(stuck.slice(0, 5)).toEqual([]);
    expect(moments).toBeGreaterThan(50);
  });
});
