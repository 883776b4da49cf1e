import { applyDeadlineEvent, type DeadlineEvent } from "slipway";
import { standingOf } from "../src/decide/standing.js";
import type { StepView } from "../src/http/step-view.js";
import { viewOf, type SandboxView } from "../src/http/view.js";
import type { SandboxRecord } from "../src/record/record.js";
import { NOW } from "./records.js";

/** A record as the API shows it at an instant, by the gateway's own code. */
export function viewAt(record: SandboxRecord, now: number): SandboxView {
  const around = { observation: null, backendMatches: null, policy: {} };
  const standing = standingOf(record, around, null, now);
  return viewOf(record, 1, { now, refusals: [], standing, contract: 1_000_000 });
}

type Untokened<Event> = Event extends unknown ? Omit<Event, "attempt"> : never;

/** The record after events of its own attempt, each applied at its instant. */
export function afterEvents(
  record: SandboxRecord,
  ...events: readonly (readonly [number, Untokened<DeadlineEvent>])[]
): SandboxRecord {
  if (record.deadline === null) throw new Error("the record has no attempt");
  const deadline = events.reduce((state, [at, event]) => {
    const full = { ...event, attempt: state.attempt } as DeadlineEvent;
    return applyDeadlineEvent(state, full, at).state;
  }, record.deadline);
  return { ...record, deadline };
}

/** A step under way: a quarter of an image. */
export const STEP: StepView = {
  step: "image",
  label: "Image copied",
  activeLabel: "Copying image",
  subject: "node-v20",
  unit: "bytes",
  status: "running",
  finished: false,
  position: 25_000_000,
  total: 100_000_000,
  percent: 25,
  perSecond: 5_000_000,
  elapsedMs: 5000,
  quietMs: 0,
  startedAt: NOW - 5000,
  heardAt: NOW,
  finishedAt: null,
};
