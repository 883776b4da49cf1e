/** A rejection with anything at all, which a caller's reason may be. */
export function rejectedWith<T>(reason: unknown): Promise<T> {
  return Promise.resolve().then(() => {
    throw reason;
  });
}
