/** A rejection with anything at all, which a caller's reason may be. */
export function rejectedWith(reason: unknown): Promise<never> {
  return Promise.resolve().then(() => {
    throw reason;
  });
}

/**
 * What `execute` calls on abort: it passes the reason on itself, but would put an error of its own in the place of
 * `null`.
 */
export function passOn(reason: unknown): Promise<never> | undefined {
  return reason === null || reason === undefined ? rejectedWith(reason) : undefined;
}
