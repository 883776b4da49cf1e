import { z } from "zod";
import { checkInput } from "../check-input.js";
import { HIDDEN } from "../gateway/secrets.js";
import { InvalidInputError } from "../input-error.js";

/** Together with a command of the size that a request may have, this is below what a system takes. */
const MAX_ENV_BYTES = 100_000;

/**
 * The policy that this supervisor understands. The gateway stores any JSON object: what is valid is known here, where
 * it is put into force, and a newer supervisor may understand more.
 */
const schema = z.strictObject({
  version: z.literal(1),
  network: z
    .strictObject({
      allow: z.array(z.string().regex(/^[a-z0-9.*-]+:\d{1,5}$/i, 'expected "host:port"')).max(256),
    })
    .optional(),
  /** Variables the main process gets. */
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().max(4096))
    .superRefine((env, context) => {
      const refuse = (path: string[], message: string): void =>
        context.addIssue({ code: "custom", path, message });
      let bytes = 0;
      for (const [name, value] of Object.entries(env)) {
        bytes += name.length + Buffer.byteLength(value) + 2;
        if (value.includes("\0")) refuse([name], "without a NUL");
        // Processes of a sandbox are recognised by these.
        if (name.startsWith("SLIPWAY_")) refuse([name], "absent (reserved for the supervisor)");
      }
      if (bytes > MAX_ENV_BYTES) refuse([], `at most ${MAX_ENV_BYTES} bytes`);
    })
    .optional(),
});

export type Policy = z.infer<typeof schema>;

/** @throws InvalidInputError naming the field, what was expected there, and what was found. */
export function parsePolicy(value: unknown): Policy {
  try {
    return checkInput(schema, value, "policy");
  } catch (error) {
    // The message becomes a condition. What a variable is set to is nobody's business, also of one in a wrong place.
    if (!(error instanceof InvalidInputError) || /^policy\.(?:version|network)\b/.test(error.field))
      throw error;
    throw new InvalidInputError(error.field, error.expected, HIDDEN);
  }
}
