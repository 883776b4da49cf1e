import { z } from "zod";
import { checkInput } from "../check-input.js";

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
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().max(4096)).optional(),
});

export type Policy = z.infer<typeof schema>;

/** @throws InvalidInputError naming the field, what was expected there, and what was found. */
export function parsePolicy(value: unknown): Policy {
  return checkInput(schema, value, "policy");
}
