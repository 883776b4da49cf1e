import { z } from "zod";
import type { JsonObject } from "../record/json.js";

const policy: z.ZodType<JsonObject> = z.record(z.string(), z.json());
const budget = z.int().positive().max(Number.MAX_SAFE_INTEGER);

export const createBody = z.strictObject({
  name: z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, "1 to 63 lower-case letters, digits or -"),
  driver: z.string().default("process"),
  image: z.strictObject({
    name: z.string().min(1).max(200).optional(),
    path: z.string().min(1).max(4096),
    include: z.array(z.string().min(1)).min(1).max(100).optional(),
  }),
  command: z.array(z.string()).min(1).max(1000),
  policy: policy.default({ version: 1 }),
  driverOptions: policy.default({}),
  budgets: z
    .strictObject({
      preparationMs: budget.optional(),
      admissionMs: budget.optional(),
      stallMs: budget.optional(),
    })
    .default({}),
});

export const updateBody = z.strictObject({
  policy,
  ifGeneration: z.int().positive().optional(),
});

const generation = z.int().positive();

export const reportBody = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("rejected"),
    generation,
    reason: z.string().regex(/^[A-Za-z][A-Za-z0-9]{0,127}$/),
    message: z.string().max(2000),
  }),
  z.strictObject({ kind: z.literal("accepted"), generation }),
  z.strictObject({ kind: z.literal("ready"), generation }),
  z.strictObject({
    kind: z.literal("exited"),
    exitCode: z.int().min(0).max(255).nullable(),
    signal: z.string().max(20).nullable(),
  }),
]);

export const listQuery = z.strictObject({
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

export const configurationQuery = z.strictObject({
  after: z.coerce.number().int().nonnegative().default(0),
  waitMs: z.coerce.number().int().nonnegative().max(60_000).default(0),
});
