/**
 * A rejection with anything at all, which a caller's reason may be, by identity. `execute` alone would put an error
 * of its own in the place of `null`.
 */
export function rejectedWith(reason: unknown): Promise<never> {
  return Promise.resolve().then(() => {
    throw reason;
  });
}
