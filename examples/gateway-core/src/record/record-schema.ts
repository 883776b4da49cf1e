import { isSlipwayError, phases } from "slipway";
import { decodeDeadlineState, decodeTrackerState } from "slipway/schema";
import { z } from "zod";
import { checkInput } from "../check-input.js";
import { InvalidInputError, shorten } from "../input-error.js";
import type { JsonObject } from "./json.js";
import { INTENTS } from "./phase.js";
import type { SandboxRecord } from "./record.js";
import { upgradeRecord } from "./upgrade-record.js";

const instant = z.int();
const count = z.int().nonnegative();
const json: z.ZodType<JsonObject> = z.record(z.string(), z.json());

const conditionSchema = z.strictObject({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.string(),
  observedGeneration: count.optional(),
  cause: z.strictObject({ reason: z.string(), message: z.string() }).optional(),
  generalReasons: z.array(z.string()).optional(),
});

const specSchema = z.strictObject({
  driver: z.string(),
  image: z.strictObject({
    name: z.string(),
    path: z.string().optional(),
    include: z.array(z.string()).optional(),
  }),
  command: z.array(z.string()),
  driverOptions: json,
  budgets: z.strictObject({
    preparationMs: count.optional(),
    admissionMs: count.optional(),
    stallMs: count.optional(),
  }),
});

/** Strict: a field that is missing, unknown or of another type is an error, and never a default. */
const recordSchema = z.strictObject({
  schemaVersion: z.literal(4),
  id: z.string(),
  name: z.string(),
  createdAt: instant,
  spec: specSchema,
  configuration: z.strictObject({
    generation: count,
    digest: z.string(),
    committedAt: instant,
    policy: json,
  }),
  desired: z.enum(INTENTS),
  phase: z.enum(phases),
  since: instant,
  updatedAt: instant,
  reason: z.string(),
  message: z.string(),
  conditions: z.array(conditionSchema),
  attemptNumber: count,
  startPending: z.boolean(),
  startRequestedAt: instant.nullable(),
  previousFinishedAt: instant.nullable(),
  shutdownStopAt: instant.nullable(),
  isolationBackend: z.string().nullable(),
  restarts: count,
  restartAt: instant.nullable(),
  deadline: z.unknown(),
  admission: z.enum(["pending", "accepted", "rejected"]).nullable(),
  appliedGeneration: count,
  run: count,
  launchFailures: count,
  launchNotBefore: instant,
  lease: z.strictObject({ owner: z.string(), until: instant }).nullable(),
  instance: z
    .strictObject({
      id: z.string(),
      run: count,
      handle: z.json().nullable(),
      startedAt: instant,
      launchedAt: instant.nullable(),
    })
    .nullable(),
  activatedRun: count.nullable(),
  steps: z.unknown(),
  cleanupFailures: count,
  cleanupNotBefore: instant,
  exitCode: z.int().nullable(),
  exitSignal: z.string().nullable(),
  finishedAt: instant.nullable(),
});

/** A record that cannot be read. It is left as it is: nothing is guessed, and no fresh window is opened for it. */
export class CorruptRecordError extends Error {
  override readonly name = "CorruptRecordError";
  readonly id: string;

  constructor(id: string, options: ErrorOptions) {
    super(`The record ${id} is corrupt: ${faultOf(options.cause)}`, options);
    this.id = id;
  }
}

/** Where the fault is and what was expected there. The value may be a secret: it is in the cause, for whoever debugs. */
function faultOf(cause: unknown): string {
  if (cause instanceof InvalidInputError) return `${cause.field} must be ${cause.expected}`;
  if (isSlipwayError(cause))
    return `${shorten(`record.deadline.${cause.field ?? ""}`)} is not as it must be (${cause.code})`;
  return "it cannot be read";
}

/** @throws CorruptRecordError naming the field */
export function decodeRecord(id: string, value: unknown): SandboxRecord {
  try {
    const { deadline, steps, ...rest } = checkInput(recordSchema, upgradeRecord(value), "record");
    if (rest.id !== id) throw new InvalidInputError("record.id", `"${id}"`, rest.id);
    return {
      ...rest,
      deadline: deadline === null ? null : decodeDeadlineState(deadline),
      steps: decodeTrackerState(steps),
    };
  } catch (cause) {
    throw new CorruptRecordError(id, { cause });
  }
}
