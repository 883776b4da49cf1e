import { z } from "zod";
import { BOOTSTRAP_FAILURES } from "../decide/supervisor-report.js";
import { InvalidInputError } from "../input-error.js";
import type { JsonObject } from "../record/json.js";

const MAX_DEPTH = 64;
/** A system takes a command and its environment up to a limit of its own; this is below all of them. */
const MAX_COMMAND_BYTES = 100_000;

const policy: z.ZodType<JsonObject> = z.record(z.string(), z.json());
const budget = z.int().positive().max(Number.MAX_SAFE_INTEGER);

/** Looked at before anything walks down into the value, level by level and not by recursion. */
function refuseDepth(field: string, value: unknown): void {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH)
      throw new InvalidInputError(field, `nested at most ${MAX_DEPTH} deep`, "what is deeper");
    level = level.flatMap((item) =>
      typeof item === "object" && item !== null ? (Object.values(item) as unknown[]) : [],
    );
  }
}

/** A body whose fields are not nested too deep for what reads, compares and writes them later. */
function shallow<Schema extends z.ZodType>(schema: Schema) {
  const checked = z.unknown().transform((body) => {
    if (typeof body !== "object" || body === null || Array.isArray(body)) refuseDepth("body", body);
    else for (const [field, value] of Object.entries(body)) refuseDepth(field, value);
    return body;
  });
  return checked.pipe(schema);
}

const word = z.string().refine((text) => !text.includes("\0"), "without a NUL");
const command = z
  .array(word)
  .min(1)
  .max(1000)
  .superRefine((words, context) => {
    const refuse = (path: number[], message: string): void =>
      context.addIssue({ code: "custom", path, message });
    if (words[0] === "") refuse([0], "the name of a program");
    const bytes = words.reduce((sum, each) => sum + Buffer.byteLength(each) + 1, 0);
    if (bytes > MAX_COMMAND_BYTES) refuse([], `at most ${MAX_COMMAND_BYTES} bytes`);
  });

const createFields = z.strictObject({
  name: z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, "1 to 63 lower-case letters, digits or -"),
  driver: z.string().optional(),
  image: z
    .strictObject({
      name: z.string().min(1).max(500).optional(),
      path: z.string().min(1).max(4096).optional(),
      include: z.array(z.string().min(1)).min(1).max(100).optional(),
    })
    .refine(({ name, path }) => name !== undefined || path !== undefined, "a name or a path"),
  command,
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

export const createBody = shallow(createFields);

export const updateBody = shallow(
  z.strictObject({
    policy,
    ifGeneration: z.int().positive().optional(),
  }),
);

const generation = z.int().positive();

const reasonName = z.string().regex(/^[A-Za-z][A-Za-z0-9]{0,127}$/);
const cause = z.strictObject({ reason: z.string().min(1).max(128), message: z.string().max(2000) });

const report = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("rejected"),
    generation,
    reason: reasonName,
    message: z.string().max(2000),
  }),
  z.strictObject({
    kind: z.literal("bootstrap"),
    succeeded: z.boolean(),
    reason: reasonName,
    message: z.string().max(2000),
    cause: cause.optional(),
  }),
  z.strictObject({
    kind: z.literal("bootstrap-failed"),
    reason: z.enum(BOOTSTRAP_FAILURES),
    message: z.string().max(2000),
    cause: cause.optional(),
  }),
  z.strictObject({ kind: z.literal("enforcement-lost"), message: z.string().max(2000) }),
  z.strictObject({ kind: z.literal("accepted"), generation }),
  z.strictObject({ kind: z.literal("ready"), generation }),
  z.strictObject({
    kind: z.literal("exited"),
    exitCode: z.int().min(0).max(255).nullable(),
    signal: z.string().max(20).nullable(),
    outOfMemory: z.boolean().optional(),
  }),
]);

export const reportBody = shallow(report);

const version = z.int().positive();

/** What a supervisor asks of the activation ledger. */
export const activationBody = shallow(
  z.strictObject({
    expectedVersion: version.nullable(),
    next: z
      .strictObject({
        state: z.enum(["activating", "active", "stopped", "completed"]),
        version,
        claim: z.string().min(1).max(128).nullable(),
        at: z.int().nonnegative(),
      })
      .nullable(),
  }),
);

export const listQuery = z.strictObject({
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

export const configurationQuery = z.strictObject({
  after: z.coerce.number().int().nonnegative().default(0),
  waitMs: z.coerce.number().int().nonnegative().max(60_000).default(0),
});
