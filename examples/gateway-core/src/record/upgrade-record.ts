import { z } from "zod";
import { checkInput } from "../check-input.js";
import { reportSteps, stepsOf } from "./steps.js";

/**
 * A record as an earlier version of this gateway wrote it, in the shape of this one. Anything else is left as it is:
 * the strict schema says what is wrong with it.
 */
export function upgradeRecord(value: unknown): unknown {
  return [fromVersion1, fromVersion2, fromVersion3].reduce((record, upgrade) => upgrade(record), value);
}

function fromVersion1(value: unknown): unknown {
  if (!isObject(value) || value["schemaVersion"] !== 1) return value;
  const { instance } = value;
  return {
    ...value,
    schemaVersion: 2,
    updatedAt: value["since"],
    previousFinishedAt: null,
    isolationBackend: null,
    restarts: 0,
    restartAt: null,
    // Version 1 wrote a handle exactly when the driver had started the supervisor.
    instance: isObject(instance)
      ? { ...instance, launchedAt: instance["handle"] === null ? null : instance["startedAt"] }
      : instance,
  };
}

const version2Steps = z.array(
  z.strictObject({
    step: z.string(),
    label: z.string(),
    subject: z.string(),
    unit: z.enum(["bytes", "none"]),
    position: z.number().nonnegative().nullable(),
    total: z.number().nonnegative().nullable(),
    startedAt: z.int(),
    updatedAt: z.int(),
    finishedAt: z.int().nullable(),
  }),
);

const version2 = z.looseObject({
  createdAt: z.int(),
  run: z.int().nonnegative(),
  spec: z.looseObject({ image: z.looseObject({ name: z.string() }) }),
  steps: version2Steps,
});

/**
 * Version 2 kept steps in a shape of its own, and only those of the current run: what was written down of them happens
 * again, in the order of its instants.
 */
function fromVersion2(value: unknown): unknown {
  if (!isObject(value) || value["schemaVersion"] !== 2) return value;
  const { createdAt, run, spec, steps } = checkInput(version2, value, "record");
  const of = { run, image: { name: spec.image.name } };
  const reports = steps.flatMap(({ startedAt, updatedAt, finishedAt, position, total, ...words }) => {
    const counted = { ...words, position: position ?? undefined, total: total ?? undefined };
    const moved = { at: finishedAt ?? updatedAt, report: { ...counted, done: finishedAt !== null } };
    return [{ at: startedAt, report: words }, moved];
  });
  let upgraded = stepsOf(of.image, createdAt);
  for (const { at, report } of reports.sort((one, other) => one.at - other.at))
    upgraded = reportSteps(upgraded, report, of, at).steps;
  return { ...value, schemaVersion: 3, steps: upgraded };
}

/** Version 3 did not say what the end of a gateway had stopped: nothing is taken for its doing. */
function fromVersion3(value: unknown): unknown {
  if (!isObject(value) || value["schemaVersion"] !== 3) return value;
  return { ...value, schemaVersion: 4, shutdownStopAt: null };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
